#!/usr/bin/env python3
"""An MCP server whose one tool has an effect that can be counted: it appends a line to a file of its folder."""
import json, os, sys

TOOL = {
    "name": "bump",
    "description": "Adds one to a counter.",
    "inputSchema": {"type": "object", "properties": {"counter": {"type": "string"}}, "required": ["counter"]},
}

def result_of(method, params):
    if method == "initialize":
        return {
            "protocolVersion": params.get("protocolVersion"),
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "counter", "version": "1.0.0"},
        }
    if method == "tools/list":
        return {"tools": [TOOL]}
    if method == "tools/call":
        counter = params["arguments"]["counter"]
        with open(os.path.join(sys.argv[1], counter), "a") as file:
            file.write("x\n")
        return {"content": [{"type": "text", "text": "counted " + counter}]}
    return None

for line in sys.stdin:
    message = json.loads(line)
    if "id" in message and "method" in message:
        answer = {"jsonrpc": "2.0", "id": message["id"]}
        result = result_of(message["method"], message.get("params") or {})
        if result is None:
            answer["error"] = {"code": -32601, "message": "method not found"}
        else:
            answer["result"] = result
        print(json.dumps(answer), flush=True)

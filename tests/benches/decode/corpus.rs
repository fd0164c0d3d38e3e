//! A stream of our own, the same in every run: what a coding agent hears in an hour.
//!
//! The mix is that of recorded streams of four providers. By bytes, two thirds are deltas of text of some four
//! characters each, an eighth deltas of reasoning and arguments, the rest items, parts and whole answers. A third of the
//! deltas carry padding, a third begin with their number instead of their type, a few end with their type.

use std::fmt::Write;

use serde_json::{Map, Value, json};

/// The stream grows by whole answers until it has this many bytes.
const STREAM_BYTES: usize = 4 << 20;

const WORDS: [&str; 40] = [
    " the", " file", " a", " to", " is", " and", "parse", " of", ".", ",", " test", "()", "::", " error",
    "\n", " return", " value", " in", " for", "_", " not", "\n\n", " so", " we", " `", "`", " \"", "\"",
    " that", "0", " line", " call", "Result", " let", " mut", "&self", " =>", " é", " “", " → ",
];

/// The stream, as bytes of server-sent events.
pub(crate) fn stream() -> Vec<u8> {
    let mut answers = Answers { dice: Dice(0x7465_6e6f_6e00_0001), out: String::new(), number: 0, answer: 0 };
    while answers.out.len() < STREAM_BYTES {
        answers.one();
    }
    answers.out.into_bytes()
}

/// Random numbers that are the same in every run (SplitMix64).
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`.
    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.roll() % end as u64).unwrap_or_default()
    }

    fn word(&mut self) -> &'static str {
        let at = self.below(WORDS.len());
        WORDS.get(at).copied().unwrap_or_default()
    }

    /// As many of these characters.
    fn letters(&mut self, from: &str, count: usize) -> String {
        let from = from.as_bytes();
        (0..count).filter_map(|_| from.get(self.below(from.len())).copied()).map(char::from).collect()
    }

    fn id(&mut self, prefix: &str) -> String {
        format!("{prefix}_{}", self.letters("0123456789abcdef", 50))
    }

    fn base64(&mut self, count: usize) -> String {
        self.letters("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_", count)
    }
}

/// How the members of an answer's events are ordered: providers differ.
#[derive(Clone, Copy)]
enum Order {
    TypeFirst,
    NumberFirst,
    /// By name, as some proxies write them: the type is the last member.
    Sorted,
}

struct Answers {
    dice: Dice,
    out: String,
    number: u64,
    answer: usize,
}

impl Answers {
    /// A whole answer: some reasoning, a message, some calls.
    fn one(&mut self) {
        let order = match self.answer % 12 {
            3 | 6 | 9 | 10 => Order::NumberFirst,
            11 => Order::Sorted,
            _ => Order::TypeFirst,
        };
        self.answer += 1;
        self.number = 0;
        let response = json!({"id": self.dice.id("resp"), "object": "response", "created_at": 1_764_000_000 + self.answer});
        self.whole("response.created", order, &response, "in_progress", &[]);
        self.whole("response.in_progress", order, &response, "in_progress", &[]);
        let mut output = vec![self.reasoning(order)];
        output.push(self.message(order, output.len()));
        for _ in 0..self.dice.below(4) {
            let call = self.call(order, output.len());
            output.push(call);
        }
        self.whole("response.completed", order, &response, "completed", &output);
    }

    fn reasoning(&mut self, order: Order) -> Value {
        let id = self.dice.id("rs");
        let begun =
            json!({"id": id, "type": "reasoning", "summary": [], "encrypted_content": self.dice.base64(300)});
        self.event("response.output_item.added", order, json!({"output_index": 0, "item": begun}));
        let place = json!({"item_id": id, "output_index": 0, "summary_index": 0});
        let part = |text: &str| json!({"part": {"type": "summary_text", "text": text}});
        self.event("response.reasoning_summary_part.added", order, with(&place, part("")));
        let count = 20 + self.dice.below(60);
        let text = self.deltas("response.reasoning_summary_text.delta", order, &place, count, &json!({}));
        self.event("response.reasoning_summary_text.done", order, with(&place, json!({"text": text})));
        self.event("response.reasoning_summary_part.done", order, with(&place, part(&text)));
        let summary = json!([{"type": "summary_text", "text": text}]);
        let size = 800 + self.dice.below(4000);
        let item = json!({"id": id, "type": "reasoning", "summary": summary, "encrypted_content": self.dice.base64(size)});
        self.event("response.output_item.done", order, json!({"output_index": 0, "item": item}));
        item
    }

    fn message(&mut self, order: Order, index: usize) -> Value {
        let id = self.dice.id("msg");
        let message = |status: &str, content: Value| json!({"id": id, "type": "message", "status": status, "content": content, "role": "assistant"});
        let begun = json!({"output_index": index, "item": message("in_progress", json!([]))});
        self.event("response.output_item.added", order, begun);
        let place = json!({"item_id": id, "output_index": index, "content_index": 0});
        let part =
            |text: &str| json!({"type": "output_text", "annotations": [], "logprobs": [], "text": text});
        self.event("response.content_part.added", order, with(&place, json!({"part": part("")})));
        let count = 150 + self.dice.below(500);
        let text = self.deltas("response.output_text.delta", order, &place, count, &json!({"logprobs": []}));
        let whole = with(&place, json!({"text": text, "logprobs": []}));
        self.event("response.output_text.done", order, whole);
        self.event("response.content_part.done", order, with(&place, json!({"part": part(&text)})));
        let item = message("completed", json!([part(&text)]));
        self.event("response.output_item.done", order, json!({"output_index": index, "item": item}));
        item
    }

    fn call(&mut self, order: Order, index: usize) -> Value {
        let (id, call_id) = (self.dice.id("fc"), format!("call_{}", self.dice.base64(24)));
        let call = |status: &str, arguments: &str| {
            json!({"id": id, "type": "function_call", "status": status, "arguments": arguments,
                "call_id": call_id, "name": "exec_command"})
        };
        let begun = json!({"output_index": index, "item": call("in_progress", "")});
        self.event("response.output_item.added", order, begun);
        let place = json!({"item_id": id, "output_index": index});
        let count = 5 + self.dice.below(30);
        let command = self.deltas("response.function_call_arguments.delta", order, &place, count, &json!({}));
        let arguments = json!({"cmd": command, "yield_time_ms": 1000}).to_string();
        let whole = with(&place, json!({"arguments": arguments}));
        self.event("response.function_call_arguments.done", order, whole);
        let item = call("completed", &arguments);
        self.event("response.output_item.done", order, json!({"output_index": index, "item": item}));
        item
    }

    /// That many deltas; their text.
    fn deltas(&mut self, kind: &str, order: Order, place: &Value, count: usize, more: &Value) -> String {
        let mut text = String::new();
        for _ in 0..count {
            let delta = self.dice.word();
            text.push_str(delta);
            let mut members = with(&with(place, json!({"delta": delta})), more.clone());
            if matches!(order, Order::TypeFirst) && self.answer.is_multiple_of(2) {
                let padding = 1 + self.dice.below(15);
                members = with(&members, json!({"obfuscation": self.dice.base64(padding)}));
            }
            self.event(kind, order, members);
        }
        text
    }

    /// An event that repeats the whole answer so far, with what was asked.
    fn whole(&mut self, kind: &str, order: Order, response: &Value, status: &str, output: &[Value]) {
        let usage = (status == "completed").then(|| {
            json!({"input_tokens": 31_000, "input_tokens_details": {"cached_tokens": 29_500},
                "output_tokens": 900, "output_tokens_details": {"reasoning_tokens": 320}, "total_tokens": 31_900})
        });
        let rest = json!({
            "status": status, "background": false, "error": null, "incomplete_details": null,
            "instructions": INSTRUCTIONS, "max_output_tokens": null, "max_tool_calls": null, "model": "a-model",
            "output": output, "parallel_tool_calls": true, "previous_response_id": null,
            "prompt_cache_key": "0199-a-session", "reasoning": {"effort": "medium", "summary": "auto"},
            "safety_identifier": null, "service_tier": "auto", "store": false, "temperature": 1.0,
            "text": {"format": {"type": "text"}, "verbosity": "medium"}, "tool_choice": "auto",
            "tools": [tool("exec_command"), tool("write_stdin"), tool("update_plan"), tool("view_image")],
            "top_logprobs": 0, "top_p": 1.0, "truncation": "disabled", "usage": usage, "user": null, "metadata": {},
        });
        self.event(kind, order, json!({"response": with(response, rest)}));
    }

    fn event(&mut self, kind: &str, order: Order, members: Value) {
        let (tag, number) = (json!({"type": kind}), json!({"sequence_number": self.number}));
        self.number += 1;
        let event = match order {
            Order::TypeFirst => with(&with(&tag, number), members),
            Order::NumberFirst => with(&with(&number, tag), members),
            Order::Sorted => sorted(with(&with(&tag, number), members)),
        };
        let _ = write!(self.out, "event: {kind}\ndata: {event}\n\n");
    }
}

const INSTRUCTIONS: &str = "You work in a shell on somebody's machine. Say what you are about to do before you do it, \
    in one sentence. Read before you change. Prefer the smallest change that does what was asked, and run the tests \
    that belong to it.\n\n# Rules\n- Never delete what you did not make.\n- Ask when two readings are possible.\n";

/// A function, as answers repeat it.
fn tool(name: &str) -> Value {
    let text = |description: &str| json!({"type": "string", "description": description});
    json!({
        "type": "function", "name": name, "strict": false,
        "description": "Does one thing and says how it went, with as much of its output as was asked for.",
        "parameters": {
            "type": "object", "additionalProperties": false, "required": ["cmd"],
            "properties": {
                "cmd": text("What to do."), "workdir": text("Where; the working folder if not given."),
                "yield_time_ms": {"type": "number", "description": "How long to wait, in milliseconds."},
            },
        },
    })
}

/// The members of both, in order.
fn with(members: &Value, more: Value) -> Value {
    let mut all = members.as_object().cloned().unwrap_or_default();
    if let Value::Object(more) = more {
        all.extend(more);
    }
    Value::Object(all)
}

fn sorted(members: Value) -> Value {
    let Value::Object(members) = members else { return members };
    let mut pairs: Vec<(String, Value)> = members.into_iter().collect();
    pairs.sort_by(|(a, _), (b, _)| a.cmp(b));
    Value::Object(pairs.into_iter().collect::<Map<_, _>>())
}

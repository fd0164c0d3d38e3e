//! What scripts find, do and end with. Hostile ones are in `hostile_tests`.

use std::sync::Arc;
use std::time::Duration;

use pretty_assertions::assert_eq;
use proptest::prelude::*;
use tenon_protocol::{FunctionCallOutputContentItem as Item, ImageDetail};

use crate::engine::testing::{PANIC, echo, failure, run, script, start, stored, texts};
use crate::engine::{Outcome, ScriptCall, Settler};

/// Everything on the global object: nothing else may come to be there unseen.
const GLOBALS: &[&str] = &[
    "ALL_TOOLS",
    "AggregateError",
    "Array",
    "ArrayBuffer",
    "AsyncDisposableStack",
    "BigInt",
    "BigInt64Array",
    "BigUint64Array",
    "Boolean",
    "DataView",
    "Date",
    "DisposableStack",
    "Error",
    "EvalError",
    "FinalizationRegistry",
    "Float16Array",
    "Float32Array",
    "Float64Array",
    "Function",
    "Infinity",
    "Int16Array",
    "Int32Array",
    "Int8Array",
    "InternalError",
    "Iterator",
    "JSON",
    "Map",
    "Math",
    "NaN",
    "Number",
    "Object",
    "Promise",
    "Proxy",
    "RangeError",
    "ReferenceError",
    "Reflect",
    "RegExp",
    "Set",
    "String",
    "SuppressedError",
    "Symbol",
    "SyntaxError",
    "TypeError",
    "URIError",
    "Uint16Array",
    "Uint32Array",
    "Uint8Array",
    "Uint8ClampedArray",
    "WeakMap",
    "WeakRef",
    "WeakSet",
    "audio",
    "clearTimeout",
    "decodeURI",
    "decodeURIComponent",
    "encodeURI",
    "encodeURIComponent",
    "escape",
    "eval",
    "exit",
    "generatedImage",
    "globalThis",
    "image",
    "isFinite",
    "isNaN",
    "load",
    "notify",
    "parseFloat",
    "parseInt",
    "setTimeout",
    "store",
    "text",
    "tools",
    "undefined",
    "unescape",
    "yield_control",
];

#[test]
fn the_global_object_has_the_language_and_the_helpers_and_nothing_else() {
    let names = texts("for (const name of Reflect.ownKeys(globalThis).map(String).sort()) text(name)");
    let strange: Vec<&String> = names.iter().filter(|name| !GLOBALS.contains(&name.as_str())).collect();
    let missing: Vec<&&str> = GLOBALS.iter().filter(|name| !names.contains(&(**name).to_owned())).collect();
    assert_eq!((strange, missing), (vec![&"Symbol(Symbol.toStringTag)".to_owned()], vec![]));
}

#[test]
fn values_are_shown_as_the_model_reads_them() {
    let shown = texts(
        "text('hi'); text(42); text(-0); text(1e21); text(10n); text(true); text(null); text(undefined); text();
         text({a: 1, b: [true, null]}); text(() => 1); text(Symbol('s')); text([]); text(new Date(0));
         text('\\ud800x'); text('a\\0b'); text(Object.create(null)); text(new Map([[1, 2]]))",
    );
    let expected = [
        "hi",
        "42",
        "0",
        "1e+21",
        "10",
        "true",
        "null",
        "undefined",
        "undefined",
        "{\"a\":1,\"b\":[true,null]}",
        "() => 1",
        "Symbol(s)",
        "[]",
        "\"1970-01-01T00:00:00.000Z\"",
        "\u{fffd}x",
        "a\0b",
        "{}",
        "{}",
    ];
    assert_eq!(shown, expected);
}

#[test]
fn what_cannot_be_shown_is_thrown_as_a_plain_string() {
    let shown = texts(
        "const a = {}; a.a = a;
         for (const odd of [a, {b: 1n}, {toJSON() { throw new TypeError('no') }}, {toJSON() { throw 'plain' }}])
             try { text(odd); text('shown') } catch (e) { text(typeof e + ' ' + e) }",
    );
    assert_eq!(
        shown,
        [
            "string TypeError: circular reference",
            "string TypeError: BigInt are forbidden in JSON.stringify",
            "string TypeError: no",
            "string plain"
        ]
    );
}

#[test]
fn a_script_ends_as_its_module_does() {
    assert_eq!(run("text('a'); exit(); text('b')"), (Outcome::Completed, vec!["a".to_owned()]));
    assert_eq!(run("try { exit() } catch { text('caught') }").1, ["caught"]);
    assert_eq!(run("setTimeout(() => exit(), 0); await new Promise(() => {})").0, Outcome::Completed);
    assert_eq!(run("(async () => exit())(); text('on')"), (Outcome::Completed, vec!["on".to_owned()]));
    assert_eq!(failure("throw '__codex_code_mode_exit__'"), "__codex_code_mode_exit__");
    assert_eq!(run("export const x = 1; await 0; text(import.meta ? 'module' : '')").1, ["module"]);
    assert_eq!(run("#!/usr/bin/env node\ntext('hashbang')").1, ["hashbang"]);
    assert_eq!(
        run("Promise.reject(new Error('nobody hears')); setTimeout(() => text('late'), 5)").1,
        [""; 0]
    );
}

#[test]
fn errors_say_name_message_and_place() {
    let table = [
        ("throw 'plain'", "plain"),
        ("throw null", "null"),
        ("throw undefined", "undefined"),
        ("throw 7n", "7"),
        ("throw Symbol('s')", "Symbol(s)"),
        ("throw {}", "[object Object]"),
        ("throw {stack: 'my stack\\n'}", "my stack"),
        ("throw {stack: 1, toString() { return 'mine' }}", "mine"),
        ("throw Object.create(null)", "uncaught exception that cannot be shown"),
        ("throw {toString() { throw 1 }}", "uncaught exception that cannot be shown"),
        ("\nthrow new Error('boom')", "Error: boom\n    at <anonymous> (exec_main.mjs:2:11)"),
        (
            "await Promise.reject(new TypeError('nah'))",
            "TypeError: nah\n    at <anonymous> (exec_main.mjs:1:26)",
        ),
        (
            "function f() { null.x }\nf()",
            "TypeError: cannot read property 'x' of null\n    at f (exec_main.mjs:1:15)\n    at <anonymous> (exec_main.mjs:2:1)",
        ),
        (
            "class E extends Error { name = 'Mine' }; throw new E('x')",
            "Mine: x\n    at E (exec_main.mjs:1:1)\n    at <anonymous> (exec_main.mjs:1:52)",
        ),
        ("const e = new Error('x'); e.stack = 'Error: x\\n  here'; throw e", "Error: x\n  here"),
        ("const e = new Error('x'); Object.defineProperty(e, 'stack', {value: 3}); throw e", "Error: x"),
        ("nope()", "ReferenceError: nope is not defined\n    at <anonymous> (exec_main.mjs:1:1)"),
        ("\n\nlet = ;", "SyntaxError: variable name expected\n    at exec_main.mjs:3:5"),
        ("text(1)\n// \u{e9}\0", "SyntaxError: the source has a NUL byte\n    at exec_main.mjs:2:5"),
        (
            "setTimeout(() => { throw new Error('late') }, 0); await new Promise(() => {})",
            "Error: late\n    at <anonymous> (exec_main.mjs:1:30)",
        ),
        ("function f() { f() } f()", "RangeError: Maximum call stack size exceeded"),
    ];
    for (source, expected) in table {
        let text = failure(source);
        let text = if source.ends_with("f() } f()") { text.lines().next().unwrap().to_owned() } else { text };
        assert_eq!(text, expected, "{source}");
    }
}

#[test]
fn columns_count_as_the_model_does() {
    let place = |source| failure(source).lines().last().unwrap().to_owned();
    assert_eq!(place("text('\u{1f600}\u{e9}'); null.x"), "    at <anonymous> (exec_main.mjs:1:13)");
    assert_eq!(place("text('abc'); null.x"), "    at <anonymous> (exec_main.mjs:1:13)");
}

#[test]
fn nothing_can_be_imported() {
    for source in
        ["import fs from 'fs'", "import 'fs'", "export * from 'fs'", "import j from 'fs' with {type: 'json'}"]
    {
        assert_eq!(
            run(&format!("text('runs');\n{source}")),
            (Outcome::Failed("Unsupported import in exec: fs".to_owned()), vec![])
        );
    }
    let shown = texts(
        "for (const get of [() => import('fs'), () => eval(\"import('fs')\"), () => new Function(\"return import('x')\")(),
                            () => import('exec_main.mjs')])
             try { await get(); text('imported') } catch (e) { text(typeof e + ' ' + e) }",
    );
    assert_eq!(shown, ["string unsupported import in exec"; 4]);
}

#[test]
fn a_script_that_nothing_can_wake_fails_at_once() {
    let dead = "the script awaits something that no pending call or timer can settle";
    assert_eq!(failure("await new Promise(() => {})"), dead);
    assert_eq!(
        failure("const id = setTimeout(() => {}, 1e9); clearTimeout(id); await new Promise(() => {})"),
        dead
    );
    assert_eq!(failure("setTimeout(() => {}, 1); await new Promise(() => {})"), dead);
}

#[test]
fn timers_fire_in_the_order_of_their_times() {
    let shown = texts(
        "const ids = [setTimeout(() => text('c'), 20), setTimeout(() => text('a'), 0), setTimeout(() => text('b'), '1')];
         clearTimeout(setTimeout(() => text('never'), 0)); clearTimeout(undefined); clearTimeout(null);
         clearTimeout(-1); clearTimeout(999); clearTimeout(NaN); text(ids);
         setTimeout((...given) => text(given.length), NaN, 'x'); setTimeout(() => text('now'), Infinity);
         await new Promise(r => setTimeout(r, 40))",
    );
    assert_eq!(shown, ["[1,2,3]", "a", "0", "now", "b", "c"]);
    let thrown = texts(
        "for (const bad of [() => setTimeout('code', 1), () => clearTimeout('1'), () => clearTimeout({})])
             try { bad() } catch (e) { text(typeof e + ' ' + e) }",
    );
    let no_number = "string clearTimeout expects a numeric timeout id";
    assert_eq!(thrown, ["string setTimeout expects a function callback", no_number, no_number]);
}

#[test]
fn as_many_timers_as_there_may_be() {
    let mut small = script(
        "for (let i = 0; i < 3; i++) setTimeout(() => {}, 1e9);
         try { setTimeout(() => {}, 0) } catch (e) { text(e) }
         clearTimeout(1); text(setTimeout(() => {}, 1e9))",
    );
    small.limits.timers = 3;
    let run = start(small, echo);
    assert_eq!(run.end().outcome, Outcome::Completed);
    assert_eq!(run.seen.lock().unwrap().texts(), ["more than 3 timers are set", "4"]);
}

#[test]
fn stored_values_are_copies_that_outlive_the_script() {
    let mut given = script(
        "const v = {n: 1}; store('k', v); v.n = 2; text(load('k')); text(load('before')); text(load('none'));
         store(7, [1]); text(load('7')); store('before', null); text(load('before'));
         for (const bad of [undefined, () => 1, Symbol('s'), 1n]) try { store('a\"b', bad) } catch (e) { text(e) }
         for (const f of [store, load]) try { f(Symbol('s'), 1) } catch (e) { text(e) }
         for (const f of [store, load]) try { f({toString() { throw 1 }}, 1) } catch (e) { text(e) }
         throw 'failed'",
    );
    given.stored = Arc::new(stored(&[("before", "{\"x\":[1]}")]));
    let run = start(given, echo);
    let end = run.end();
    assert_eq!(end.outcome, Outcome::Failed("failed".to_owned()));
    assert_eq!(end.writes, stored(&[("7", "[1]"), ("before", "null"), ("k", "{\"n\":1}")]));
    let unable = "Unable to store \"a\\\"b\". Only plain serializable objects can be stored.";
    let (store, load) = ("store key must be a string", "load key must be a string");
    let expected = [
        "{\"n\":1}",
        "{\"x\":[1]}",
        "undefined",
        "[1]",
        "null",
        unable,
        unable,
        unable,
        unable,
        store,
        load,
        store,
        load,
    ];
    assert_eq!(run.seen.lock().unwrap().texts(), expected);
}

#[test]
fn as_many_bytes_are_stored_as_there_may_be() {
    let mut small = script(
        "store('a', 'xxx'); store('a', 'yyyy');
         try { store('b', 1) } catch (e) { text(e) }
         store('a', 'zzz'); text(load('a'))",
    );
    small.limits.stored_bytes = 7;
    let run = start(small, echo);
    assert_eq!(run.end().outcome, Outcome::Completed);
    let expected = ["Unable to store \"b\". A session stores at most 7 bytes.", "zzz"];
    assert_eq!(run.seen.lock().unwrap().texts(), expected);
}

#[test]
fn images_and_sounds_are_data() {
    let run = start(
        script(
            "image('data:image/png;base64,AA'); image({image_url: 'data:x', detail: 'LOW'}, 'Original');
             image({type: 'image', data: 'AA', mimeType: 'image/gif', _meta: {'codex/imageDetail': 'low'}});
             image({type: 'image', data: 'DATA:y', _meta: {'codex/imageDetail': 'tiny'}});
             audio('data:audio/wav;base64,AA'); audio({type: 'audio', data: 'BB', mime_type: 'audio/ogg'});
             audio({type: 'audio', data: 'BB'});
             generatedImage({image_url: 'data:z', output_hint: 'hint'}); generatedImage({image_url: 'data:z'})",
        ),
        echo,
    );
    assert_eq!(run.end().outcome, Outcome::Completed);
    let image =
        |url: &str, detail| Item::InputImage { image_url: Some(url.to_owned()), file_id: None, detail };
    let audio = |url: &str| Item::InputAudio { audio_url: url.to_owned() };
    let expected = vec![
        image("data:image/png;base64,AA", None),
        image("data:x", Some(ImageDetail::Original)),
        image("data:image/gif;base64,AA", Some(ImageDetail::Low)),
        image("DATA:y", None),
        audio("data:audio/wav;base64,AA"),
        audio("data:audio/ogg;base64,BB"),
        audio("data:application/octet-stream;base64,BB"),
        image("data:z", None),
        Item::InputText { text: "hint".to_owned() },
        image("data:z", None),
    ];
    assert_eq!(run.seen.lock().unwrap().items, expected);
}

#[test]
fn a_model_without_ears_reads_that_it_missed_a_sound() {
    let mut deaf = script("audio('data:x'); try { audio('x') } catch (e) { text(e) }");
    deaf.audio_input = false;
    let run = start(deaf, echo);
    assert_eq!(run.end().outcome, Outcome::Completed);
    let expected = [
        "<audio content omitted because you do not support audio input>",
        "Tool call failed: invalid audio output. Pass a base64 data URI instead",
    ];
    assert_eq!(run.seen.lock().unwrap().texts(), expected);
}

#[test]
fn helpers_complain_in_the_contracts_words() {
    let image = "image expects a non-empty image URL string, an object with image_url and optional detail, or a raw MCP image block";
    let audio =
        "audio expects a non-empty audio URL string, an object with audio_url, or a raw MCP audio block";
    let table = [
        ("image()", image),
        ("image('')", image),
        ("image(1)", image),
        ("image([])", image),
        ("image({})", image),
        ("image({image_url: 1})", image),
        ("image({image_url: ''})", image),
        (
            "image('HTTPS://x/y.png')",
            "Tool call failed: remote image URLs are not supported in tool outputs. Pass a base64 data URI instead",
        ),
        ("image('file:///x')", "Tool call failed: invalid image output. Pass a base64 data URI instead"),
        ("image('data:x', 'tiny')", "image detail must be one of: auto, low, high, original"),
        ("image({image_url: 'data:x', detail: 1})", "image detail must be a string when provided"),
        ("image({type: 'audio', data: 'x'})", "image only accepts MCP image blocks, got \"audio\""),
        ("image({type: 'image'})", "image expected MCP image data"),
        ("audio()", audio),
        ("audio({})", audio),
        ("audio('https://x')", "Tool call failed: invalid audio output. Pass a base64 data URI instead"),
        ("audio({type: 'image', data: 'x'})", "audio only accepts MCP audio blocks, got \"image\""),
        ("audio({type: 'audio', data: ''})", "audio expected MCP audio data"),
        ("generatedImage()", "generatedImage expects an image generation result object"),
        ("generatedImage('data:x')", "generatedImage expects an image generation result object"),
        (
            "generatedImage({image_url: 'data:x', output_hint: 1})",
            "generatedImage output_hint must be a string when provided",
        ),
        ("notify(' ')", "notify expects non-empty text"),
        ("notify('')", "notify expects non-empty text"),
    ];
    for (source, expected) in table {
        let shown = texts(&format!("try {{ {source} }} catch (e) {{ text(typeof e); text(e) }}"));
        assert_eq!(shown, ["string", expected], "{source}");
    }
}

#[test]
fn notes_and_yields_reach_the_host() {
    let run = start(script("notify({a: 1}); yield_control(); notify('b'); text('c')"), echo);
    assert_eq!(run.end().outcome, Outcome::Completed);
    let seen = run.seen.lock().unwrap();
    assert_eq!((seen.notes.clone(), seen.yields), (vec!["{\"a\":1}".to_owned(), "b".to_owned()], 1));
}

#[test]
fn tools_are_functions_that_give_promises() {
    let run = start(
        script(
            "text(Object.keys(tools)); text(typeof tools.exec); text(tools.echo({}) instanceof Promise);
             text(ALL_TOOLS); text(await tools.echo({a: [1, 'x']})); text(await tools.echo());
             text(await tools.echo(undefined)); text(await tools.patch('p'));
             try { tools.echo({a: 1n}) } catch (e) { text(e instanceof TypeError) }
             tools = 1; ALL_TOOLS = 2; text([tools, ALL_TOOLS])",
        ),
        echo,
    );
    assert_eq!(run.end().outcome, Outcome::Completed);
    let seen = run.seen.lock().unwrap();
    let expected = [
        "[\"echo\",\"patch\"]",
        "undefined",
        "true",
        "[{\"name\":\"echo\",\"description\":\"Does echo. Declared.\"},{\"name\":\"patch\",\"description\":\"Does patch. Declared.\"}]",
        "{\"a\":[1,\"x\"]}",
        "null",
        "null",
        "p",
        "true",
        "[1,2]",
    ];
    assert_eq!(seen.texts(), expected);
    let calls = [(0, Some("{}")), (0, Some("{\"a\":[1,\"x\"]}")), (0, None), (0, None), (1, Some("\"p\""))];
    assert_eq!(seen.calls, calls.map(|(tool, argument)| (tool, argument.map(str::to_owned))));
}

#[test]
fn results_that_come_later_and_in_any_order_find_their_promises() {
    let waiting = std::sync::Mutex::new(Vec::new());
    let later = move |call: &ScriptCall, settler: &Settler| {
        let mut waiting = waiting.lock().unwrap();
        waiting.push((call.number, call.argument.clone().unwrap()));
        if waiting.len() == 3 {
            for (number, argument) in waiting.drain(..).rev() {
                let failed = argument == "{\"n\":1}";
                settler.settle(number, if failed { Err("no 1".to_owned()) } else { Ok(argument) });
            }
        }
        None
    };
    let run = start(
        script(
            "const all = [0, 1, 2].map(n => tools.echo({n}).then(r => text(r.n), e => text(typeof e + e)));
             await Promise.all(all)",
        ),
        later,
    );
    assert_eq!(run.end().outcome, Outcome::Completed);
    assert_eq!(run.seen.lock().unwrap().texts(), ["2", "stringno 1", "0"]);
}

#[test]
fn as_many_calls_are_pending_as_there_may_be() {
    let mut small =
        script("for (let i = 0; i < 3; i++) tools.echo({}).catch(e => text(e)); await 0; await 0");
    small.limits.pending_calls = 2;
    let run = start(small, |_, _| None);
    assert_eq!(run.end().outcome, Outcome::Completed);
    let seen = run.seen.lock().unwrap();
    assert_eq!((seen.texts(), seen.calls.len()), (vec!["more than 2 tool calls are pending"], 2));
}

#[test]
fn an_untouched_result_prints_its_own_digits() {
    let json = r#"{"big":12345678901234567890,"one":1.0,"b":1e300,"2":1,"1":2,"s":"\u001f é"}"#;
    let shown = |source: &str| {
        let run = start(script(source), move |_, _| Some(Ok(json.to_owned())));
        assert_eq!(run.end().outcome, Outcome::Completed);
        let seen = run.seen.lock().unwrap();
        seen.texts().into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(shown("text(await tools.echo())"), [json]);
    assert_eq!(
        shown("const r = await tools.echo(); text(Object.freeze(r)); text(r.big)"),
        [json, "12345678901234567000"]
    );
    let touched = shown("const r = await tools.echo(); r.one = 2; text(r); r.one = 1; text(r)");
    assert_eq!(touched[0], r#"{"1":2,"2":1,"big":12345678901234567000,"one":2,"b":1e+300,"s":"\u001f é"}"#);
    assert_eq!(touched[1], json);
}

#[test]
fn a_panic_of_the_host_ends_the_script_and_no_line_follows() {
    for source in [
        "try { text('panic!') } catch {} text('on')",
        "try { text('panic!') } finally { for (;;) {} }",
        "Promise.resolve().then(() => text('panic!')).catch(() => text('on')); await new Promise(r => setTimeout(r, 1e9))",
        "setTimeout(() => { try { text('panic!') } catch {} text('on'); exit() }, 0); await new Promise(() => {})",
        "try { text('panic!') } catch {} throw {toString() { text('on'); return 'x' }}",
    ] {
        assert!(source.contains(PANIC));
        let broken = Outcome::Failed("exec runtime ended unexpectedly".to_owned());
        assert_eq!(run(source), (broken, vec![]), "{source}");
    }
}

#[test]
fn a_panic_of_a_call_ends_the_script() {
    let run = start(script("try { await tools.echo({}) } catch (e) { text(e) } text('on')"), |_, _| {
        panic!("asked to")
    });
    assert_eq!(run.end().outcome, Outcome::Failed("exec runtime ended unexpectedly".to_owned()));
    assert_eq!(run.seen.lock().unwrap().texts(), [""; 0]);
}

#[test]
fn a_script_is_stopped_wherever_it_is() {
    for source in [
        "text('on'); for (;;) {}",
        "text('on'); for (;;) try { for (;;) {} } finally { for (;;) {} }",
        "text('on'); await (async function f() { await 0; return f() })()",
        "text('on'); await new Promise(r => setTimeout(r, 1e9))",
        "text('on'); await tools.echo({})",
        "text('on'); await (async () => { for (;;) await 0 })()",
        "text('on'); /(a*)*b/.test('a'.repeat(64))",
        "text('on'); throw {get stack() { for (;;) {} }}",
        "text('on'); throw {toString() { for (;;) {} }}",
        "text('on'); text({toJSON() { for (;;) {} }})",
        "text('on'); setTimeout(function f() { setTimeout(f, 0) }, 0); await new Promise(() => {})",
        "text('on'); [1, 2].sort(() => { for (;;) {} })",
        "text('on'); new Proxy({}, {get() { for (;;) {} }}).x",
    ] {
        let run = start(script(source), |_, _| None);
        while run.seen.lock().unwrap().items.is_empty() {
            std::thread::yield_now();
        }
        run.running.stop();
        assert_eq!(run.end().outcome, Outcome::Stopped, "{source}");
    }
}

#[test]
fn a_script_that_only_computes_is_stopped_in_the_end() {
    let mut busy = script("try { for (;;) {} } catch {} finally { text('on') }");
    busy.limits.cpu_time = Duration::from_millis(30);
    let run = start(busy, echo);
    let text = "the script was stopped: it computed for 0 s without awaiting anything";
    assert_eq!(run.end().outcome, Outcome::Failed(text.to_owned()));
    assert_eq!(run.seen.lock().unwrap().texts(), [""; 0]);
}

#[test]
fn handing_control_back_starts_the_clock_anew() {
    let mut busy = script(
        "const until = ms => { const end = Date.now() + ms; while (Date.now() < end); };
         for (let i = 0; i < 6; i++) { until(20); await new Promise(r => setTimeout(r, 0)) }
         for (let i = 0; i < 6; i++) { until(20); await tools.echo({}) }",
    );
    busy.limits.cpu_time = Duration::from_millis(100);
    assert_eq!(start(busy, echo).end().outcome, Outcome::Completed);
}

#[test]
fn memory_runs_out_with_one_text_in_each_of_its_shapes() {
    let whole = "the script ran out of memory: a cell may use 64 MiB";
    for source in [
        "const a = []; for (;;) a.push(new Array(1000).fill(0))",
        // Texts alone fill it: no object is made, so the collector has not run.
        "text(Object.keys('z'.repeat(1e6)).length)",
        "const a = 'z'.repeat(1e6).split(''); const b = a.map(x => ({x})); text(b.length)",
    ] {
        assert_eq!(failure(source), whole, "{source}");
    }
    // A script may as well throw what the engine throws where memory is out.
    assert_eq!(failure("throw null"), "null");
    for source in [
        "const a = []; for (;;) a.push(new Array(1000).fill(0))",
        "const a = []; for (;;) a.push({})",
        "(() => { const a = []; for (;;) a.push({}) })()",
        "let p = Promise.resolve(); for (;;) p = p.then(() => {})",
        "(() => { let p = Promise.resolve(); for (;;) p = p.then(() => {}) })()",
        "const a = []; for (let i = 0;; i++) a.push(`${i}`.padEnd(4096))",
        "new Uint8Array(1 << 27)",
        "let o = {}; for (;;) o = {o}",
        "const a = []; for (;;) a.push(tools.echo({}))",
        "const f = async () => { await 0; const a = []; for (;;) a.push({}) }; await f()",
        "await tools.echo({}); const m = new Map(); for (let i = 0;; i++) m.set(i, [i])",
        "setTimeout(() => { const a = []; for (;;) a.push([1]) }, 0); await new Promise(() => {})",
        "JSON.stringify(new Array(1e8).fill(0))",
    ] {
        let mut small = script(source);
        small.limits.memory_bytes = 16 << 20;
        let text = "the script ran out of memory: a cell may use 16 MiB".to_owned();
        assert_eq!(start(small, echo).end().outcome, Outcome::Failed(text), "{source}");
    }
}

#[test]
fn a_script_that_ends_at_an_await_leaves_nothing_alive() {
    // A value of the engine that outlives its context would end the whole process.
    let steps = "store('k', {a: 1}); const h = {}; h.h = h; setTimeout(() => text(h), 1e9); const keep = tools.echo(h.x);
                 await 0; await null; await new Promise(r => setTimeout(r, 0)); await tools.echo({});
                 await Promise.all([tools.patch('x'), tools.echo({})]); const again = await tools.patch('y'); text(again);
                 await new Promise(r => setTimeout(r, 1e9))";
    for stop_after in 0..8 {
        let calls = std::sync::atomic::AtomicUsize::new(0);
        let answer = move |call: &ScriptCall, settler: &Settler| {
            let count = calls.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            (count < stop_after).then(|| settler.settle(call.number, Ok("{}".to_owned())));
            None
        };
        let run = start(script(steps), answer);
        while run.seen.lock().unwrap().calls.len() < (stop_after + 1).min(5) {
            std::thread::yield_now();
        }
        run.running.stop();
        assert_eq!(run.end().outcome, Outcome::Stopped);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn any_text_comes_through_as_it_is(text in "\\PC*") {
        let json = serde_json::to_string(&text).unwrap();
        prop_assert_eq!(texts(&format!("text({json})")), [text]);
    }

    #[test]
    fn any_result_prints_as_it_came(numbers in proptest::collection::vec(any::<i64>(), 0..4), floats in proptest::collection::vec(any::<f64>(), 0..4), keys in proptest::collection::vec("[0-9a-z\"é]{0,3}", 0..4)) {
        let mut value = serde_json::json!({"numbers": numbers, "floats": floats});
        for key in keys {
            value[key] = 1.into();
        }
        let json = value.to_string();
        let given = json.clone();
        let run = start(script("text(await tools.echo())"), move |_, _| Some(Ok(given.clone())));
        prop_assert_eq!(run.end().outcome, Outcome::Completed);
        let seen = run.seen.lock().unwrap();
        prop_assert_eq!(seen.texts(), [json.as_str()]);
    }
}

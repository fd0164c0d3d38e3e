//! Scripts that mean harm: to the process, to the next cell, to what the helpers say.

use std::time::Duration;

use pretty_assertions::assert_eq;
use proptest::prelude::*;

use crate::engine::testing::{Run, echo, run, script, start, texts};
use crate::engine::{Outcome, ScriptCall, Settler};

/// How many scripts are made; `TENON_HOSTILE_SCRIPTS` asks for another number.
const SCRIPTS: u32 = 60;

/// After this a thread is given up.
const GIVEN_UP: Duration = Duration::from_secs(2);

/// What a script does that means harm. Each comes to an end, or is stopped.
const ATTACKS: &[&str] = &[
    // Loops and recursion.
    "for (;;) {}",
    "for (;;) await 0",
    "(function f() { f() })()",
    "await (async function f() { await 0; return f() })()",
    "const f = () => Promise.resolve().then(f); await f()",
    "(function* g() { yield* g() })().next()",
    "let o = {}; for (let i = 0; i < 1e5; i++) o = [o]; JSON.stringify(o)",
    "JSON.parse('['.repeat(1e5))",
    "eval('('.repeat(1e5))",
    "new RegExp('('.repeat(1e5))",
    "new Proxy({}, {get(t, k, r) { return r[k] }}).x",
    "class A { constructor() { return new A() } } new A()",
    "const o = {get x() { return this.x }}; o.x",
    "const o = {toString() { return `${this}` }}; `${o}`",
    // Memory, in each of its shapes.
    "const a = []; for (;;) a.push({})",
    "let p = Promise.resolve(); for (;;) p = p.then(() => {})",
    "const a = []; for (;;) a.push(new ArrayBuffer(4096))",
    "new Array(2 ** 32 - 1).fill(0)",
    "let s = 'x'; for (;;) { s += s; text(s.length) }",
    "'x'.repeat(2 ** 29); 'abc'.padStart(2 ** 30)",
    "const m = new Map(); for (let i = 0;; i++) m.set({}, i)",
    "for (;;) setTimeout(() => {}, 1e9)",
    "for (;;) tools.echo({})",
    "for (;;) store(String(Math.random()), 'x'.repeat(1e5))",
    "for (;;) text('x'.repeat(1e4))",
    "for (;;) notify('x')",
    "Symbol.for('x'.repeat(1e4))",
    // Native work that asks nobody.
    "Array.prototype.reverse.call({length: 300})",
    "new Array(300).join('x').split('').sort()",
    "[].concat(new Array(300), new Array(300)).indexOf(1)",
    "Array.prototype.splice.call({length: 300}, 0, 1)",
    "/(a*)*$/.test('a'.repeat(30) + 'b')",
    "BigInt('9'.repeat(300)) ** 9n",
    // What the helpers stand on.
    "Object.prototype.toJSON = () => 'forged'; text({}); await tools.echo({})",
    "Object.prototype.toJSON = () => { throw 1 }; text({})",
    "Object.defineProperty(Object.prototype, 'then', {get() { throw 1 }}); await tools.echo({})",
    "Object.prototype.then = function(r) { r(this) }; await tools.echo({})",
    "Array.prototype[Symbol.iterator] = null; Promise.prototype.then = null; await tools.echo({})",
    "Promise.prototype.constructor = null; Promise[Symbol.species] = 1; await tools.echo({})",
    "for (const k of Reflect.ownKeys(globalThis)) try { delete globalThis[k] } catch {}",
    "for (const k of Reflect.ownKeys(globalThis)) try { globalThis[k] = () => { throw k } } catch {}",
    "for (const k of ['JSON', 'Promise', 'String', 'WeakMap', 'ArrayBuffer']) Object.freeze(globalThis[k].prototype ?? {})",
    "Object.freeze(globalThis); Object.preventExtensions(Object.prototype)",
    "Object.setPrototypeOf(tools, new Proxy({}, {get() { for (;;) {} }})); tools.nope",
    "WeakMap.prototype.get = WeakMap.prototype.set = () => { throw 1 }; text(await tools.echo({a: 1.5}))",
    "String.prototype.toWellFormed = () => { throw 1 }; text('\\ud800')",
    "String = () => { for (;;) {} }; text(Symbol('x')); throw {}",
    "Error.prototype.toString = () => { for (;;) {} }; throw new Error('x')",
    "Error.prepareStackTrace = () => { throw 1 }; null.x",
    "Error.stackTraceLimit = 1e9; null.x",
    // Values that bite.
    "throw {get stack() { throw 1 }, toString() { throw 2 }}",
    "throw new Proxy({}, {get() { throw 1 }, getPrototypeOf() { throw 1 }})",
    "throw new Proxy(new Error('x'), {get() { for (;;) {} }})",
    "const e = new Error('x'.repeat(1e6)); e.name = 'y'.repeat(1e6); throw e",
    "const a = {}; a.a = a; text(a)",
    "text({get x() { throw 1 }}); tools.echo({get x() { exit() }})",
    "text(new Proxy([], {ownKeys() { throw 1 }, get() { return 1e9 }}))",
    "image({get image_url() { for (;;) {} }}); audio({get audio_url() { throw 1 }})",
    "image(new Proxy({}, {get: (t, k) => k === 'type' ? 'image' : 'data:x', has: () => { throw 1 }}))",
    "store({toString() { throw 1 }}, 1); load(new Proxy({}, {}))",
    "setTimeout(() => {}, {valueOf() { for (;;) {} }})",
    "text('\\ud800\\udfff\\udc00'); text('\\0'); store('\\0\\ud800', '\\0\\ud800'); text(load('\\0\\ud800'))",
    "await tools.patch('\\udc00'); await tools.echo({'\\ud800': '\\udfff'})",
    "await {then() { for (;;) {} }}",
    "await {then(r) { r(this) }}",
    "await {get then() { throw 1 }}",
    "Promise.reject(1); Promise.reject(new Proxy({}, {}))",
    "new Promise((_, r) => { r(1); throw 2 }); Promise.any([])",
    "tools.echo(); tools.echo(new Proxy({}, {ownKeys() { tools.echo({}); return [] }}))",
    "tools.echo.call(null); new tools.echo({}); Reflect.construct(text, [], Array)",
    "Reflect.apply(text, 1, new Array(1e5)); text(...new Array(6e4))",
    "const r = new FinalizationRegistry(() => { for (;;) {} }); for (let i = 0; i < 1e4; i++) r.register({}, i); await 0",
    "const b = new ArrayBuffer(8, {maxByteLength: 1e6}); const v = new Uint8Array(b); v.fill({valueOf() { b.resize(0) }})",
    "[3, 2, 1].sort(function() { this?.x; exit() })",
    "yield_control(); exit(); ",
    "import('x'); import('x').catch(() => { for (;;) {} })",
    "new Function('for (;;) {}')(); (0, eval)('for (;;) {}')",
    "eval('\\0'); new RegExp('\\0'); JSON.parse('\\0')",
    "let = ;",
    "\0",
    "with ({}) {}",
    "await using x = {[Symbol.asyncDispose]() { for (;;) {} }}",
    "class X { static { for (;;) {} } }",
    "label: for (;;) { try { continue label } finally { } }",
];

/// Where it does it: `@` stands for the attack.
const PLACES: &[&str] = &[
    "@",
    "try { @ } catch {} finally { text('on') }",
    "for (;;) try { @ } catch {}",
    "(async () => { @ })(); await 0",
    "await (async () => { @ })().catch(e => text(e))",
    "setTimeout(async () => { @ }, 0); await new Promise(r => setTimeout(r, 1))",
    "Promise.resolve().then(async () => { @ }); await tools.echo({})",
    "await tools.echo({get x() { (async () => { @ })(); return 1 }})",
    "text({toJSON() { (async () => { @ })(); return 1 }})",
    "throw {toString() { (async () => { @ })(); return 'x' }}",
    "const d = new Proxy({}, {get() { (async () => { @ })() }}); d.x",
    "tools.echo({}).then(async () => { @ }); await new Promise(r => setTimeout(r, 1)); @",
];

/// Runs a script with little of everything, and stops it where nothing else does.
fn attack(source: &str) -> Outcome {
    let mut hostile = script(source);
    hostile.limits.memory_bytes = 4 << 20;
    hostile.limits.cpu_time = Duration::from_millis(40);
    hostile.limits.stored_bytes = 1 << 20;
    hostile.limits.pending_calls = 100;
    // Every second call is answered from elsewhere, every third never.
    let answer = |call: &ScriptCall, settler: &Settler| match call.number.0 % 3 {
        0 => None,
        1 => echo(call, settler),
        _ => {
            settler.settle(call.number, Ok("{\"n\":1.0}".to_owned()));
            None
        }
    };
    let run: Run = start(hostile, answer);
    if let Some(end) = run.ends_within(Duration::from_millis(200)) {
        return end.outcome;
    }
    run.running.stop();
    // A loop of costly native work is asked too rarely to stop: whoever holds the cell gives its thread up.
    run.ends_within(GIVEN_UP).map_or(Outcome::Stopped, |end| end.outcome)
}

fn scripts() -> u32 {
    std::env::var("TENON_HOSTILE_SCRIPTS").ok().and_then(|count| count.parse().ok()).unwrap_or(SCRIPTS)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: scripts(), max_shrink_iters: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_process_lives_and_the_next_script_runs(
        attacks in proptest::collection::vec(proptest::sample::select(ATTACKS), 1..3),
        place in proptest::sample::select(PLACES),
    ) {
        let attack_text = attacks.iter().map(|attack| format!("{{ {attack} }}")).collect::<Vec<_>>().join(";\n");
        attack(&place.replace('@', &attack_text));
        prop_assert_eq!(run("text(6 * 7)"), (Outcome::Completed, vec!["42".to_owned()]));
    }
}

#[test]
fn every_attack_alone_leaves_the_next_script_running() {
    for source in ATTACKS {
        attack(source);
    }
    assert_eq!(texts("text(6 * 7)"), ["42"]);
}

/// Ways out of the language, and what becomes of them.
const ESCAPES: &[(&str, &str)] = &[
    (
        "['process', 'require', 'module', 'exports', 'global', 'window', 'self', 'Deno', 'Bun', 'std', 'os', 'bjson', 'print', 'scriptArgs', '__dirname', 'fetch', 'XMLHttpRequest', 'WebSocket', 'Worker', 'importScripts', 'navigator', 'gc', 'console', 'performance', 'queueMicrotask', 'structuredClone', 'setInterval', 'setImmediate', 'Atomics', 'SharedArrayBuffer', 'WebAssembly', 'Intl', 'DOMException', 'atob', 'btoa'].filter(n => typeof globalThis[n] !== 'undefined')",
        "[]",
    ),
    ("Function('return this')() === globalThis", "true"),
    ("(0, eval)('this') === globalThis", "true"),
    ("text.constructor('return typeof process')()", "undefined"),
    ("tools.echo.constructor('return typeof require')()", "undefined"),
    ("[].constructor.constructor('return Object.keys(this).length')() > 0", "true"),
    ("(async () => {}).constructor('return import(\"fs\")')().catch(e => e)", "unsupported import in exec"),
    ("(function*() {}).constructor('yield typeof process')().next().value", "undefined"),
    ("import('data:text/javascript,1').catch(e => e)", "unsupported import in exec"),
    ("import('/etc/passwd').catch(e => e)", "unsupported import in exec"),
    ("import('./exec_main.mjs').catch(e => e)", "unsupported import in exec"),
    ("import('std').catch(e => e)", "unsupported import in exec"),
    ("import('os', {with: {type: 'json'}}).catch(e => e)", "unsupported import in exec"),
    ("Reflect.ownKeys(import.meta)", "[]"),
    ("typeof new Error().stack", "string"),
    ("/\\/(home|root|tmp|usr|work)\\//.test(new Error().stack)", "false"),
    (
        "(() => { try { return (function() { return arguments.callee })() } catch (e) { return e.name } })()",
        "TypeError",
    ),
    ("(() => { try { return text.caller } catch (e) { return e.name } })()", "TypeError"),
    ("typeof this", "undefined"),
    ("Object.getOwnPropertyNames(text).sort()", "[\"length\",\"name\"]"),
    ("Object.getPrototypeOf(tools) === Object.prototype", "true"),
    ("Object.getPrototypeOf(text) === Function.prototype", "true"),
    ("new (class extends Promise {})(r => r(1)).constructor.name", ""),
    ("typeof Object.getOwnPropertyDescriptor(globalThis, 'tools').get", "function"),
    ("typeof Symbol.for('nodejs.util.inspect.custom')", "symbol"),
    ("typeof Date.now() + typeof Math.random()", "numbernumber"),
    ("new Date(0).toLocaleString('de-DE').length > 0", "true"),
];

#[test]
fn there_is_no_way_out() {
    for (source, expected) in ESCAPES {
        assert_eq!(texts(&format!("text(await ({source}))")), [*expected], "{source}");
    }
}

#[test]
fn helpers_do_not_lean_on_what_a_script_can_replace() {
    let table = [
        (
            "const t = text; for (const k of Reflect.ownKeys(globalThis)) try { delete globalThis[k] } catch {} t({a: [1]})",
            "{\"a\":[1]}",
        ),
        ("JSON.stringify = JSON.parse = () => 'forged'; text(await tools.echo({a: 1}))", "{\"a\":1}"),
        ("Promise = null; Promise?.resolve; text(await tools.echo({a: 1}))", "{\"a\":1}"),
        ("String = null; text(Symbol('s'))", "Symbol(s)"),
        ("String.prototype.toWellFormed = null; text('\\ud800')", "\u{fffd}"),
        ("WeakMap.prototype.get = () => '\"forged\"'; text({a: 1})", "{\"a\":1}"),
        ("WeakMap = null; text(await tools.echo({a: 1.5}))", "{\"a\":1.5}"),
        (
            "Array.prototype.push = null; Object.defineProperty(Array.prototype, 0, {set() { throw 1 }}); text(ALL_TOOLS.length)",
            "2",
        ),
        (
            "Object.defineProperty(Object.prototype, 'name', {set() { throw 1 }}); text(ALL_TOOLS[0].name)",
            "echo",
        ),
        ("Promise.prototype.then = null; tools.echo({}); text('on')", "on"),
        ("globalThis.load = null; store('k', 1); text('on')", "on"),
    ];
    for (source, expected) in table {
        assert_eq!(texts(source), [expected], "{source}");
    }
}

#[test]
fn a_long_error_is_cut() {
    let (outcome, _) = run("throw new Error('x'.repeat(1e6))");
    let Outcome::Failed(text) = outcome else { panic!("{outcome:?}") };
    assert!(text.len() < crate::limits::MAX_ERROR_BYTES + 100, "{}", text.len());
    assert!(text.starts_with("Error: xxx") && text.contains("chars truncated"));
    assert!(text.lines().last().unwrap().starts_with("    at <anonymous> (exec_main.mjs:1:"));
}

#[test]
fn a_long_text_is_cut_and_says_so() {
    let most = crate::limits::MAX_TEXT_BYTES;
    let shown = texts(&format!("text('x'.repeat({most})); text('x'.repeat({most} + 1))"));
    assert_eq!(shown[0].len(), most);
    assert!(shown[1].contains("…1 chars truncated…"), "{}", shown[1].len());
}

#[test]
fn as_much_json_goes_to_a_tool_as_may() {
    let most = crate::limits::MAX_JSON_BYTES;
    let shown = texts(&format!(
        "for (const more of [0, 1]) await tools.echo({{x: 'x'.repeat({most} - 8 + more)}}).then(() => text('ok'), text)"
    ));
    let refused =
        format!("the argument of a tool call may have {most} bytes of JSON; this one has {}", most + 1);
    assert_eq!(shown, ["ok".to_owned(), refused]);
}

#[test]
fn as_much_json_comes_from_a_tool_as_may() {
    let most = crate::limits::MAX_JSON_BYTES;
    let answer = move |call: &ScriptCall, _: &Settler| {
        Some(Ok(format!("\"{}\"", "x".repeat(most - 3 + call.number.0 as usize))))
    };
    let run = start(
        script("for (let i = 0; i < 2; i++) await tools.echo().then(r => text(r.length), text)"),
        answer,
    );
    assert_eq!(run.end().outcome, Outcome::Completed);
    let refused =
        format!("the result of a tool call may have {most} bytes of JSON; this one has {}", most + 1);
    assert_eq!(run.seen.lock().unwrap().texts(), [(most - 2).to_string(), refused]);
}

/// Set for the test below when it runs as its own child.
const CHILD: &str = "TENON_TEST_ENGINE_IS_SILENT";

#[test]
fn the_engine_prints_nothing() {
    const NAME: &str = "engine::quickjs::hostile_tests::the_engine_prints_nothing";
    if std::env::var_os(CHILD).is_some() {
        for source in ATTACKS {
            attack(source);
        }
        return;
    }
    let child = std::process::Command::new(std::env::current_exe().unwrap())
        .args([NAME, "--exact", "--nocapture", "--test-threads=1"])
        .env(CHILD, "1")
        .output()
        .unwrap();
    let printed = String::from_utf8(child.stdout).unwrap();
    let lines: Vec<&str> = printed.lines().filter(|line| !line.is_empty()).collect();
    assert_eq!(lines.len(), 3, "{printed}");
    assert_eq!((lines[0], String::from_utf8(child.stderr).unwrap().as_str()), ("running 1 test", ""));
    assert!(lines[1].ends_with("... ok") && lines[2].starts_with("test result: ok."), "{printed}");
}

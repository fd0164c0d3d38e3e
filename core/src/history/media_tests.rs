use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::*;
use crate::history::samples::{function_output, item};

/// An URL of so many bytes.
fn url(bytes: usize) -> String {
    let head = "data:image/png;base64,";
    format!("{head}{}", "A".repeat(bytes - head.len()))
}

fn shown(call_id: &str, bytes: usize) -> ResponseItem {
    item(json!({"type": "function_call_output", "call_id": call_id, "output": [
        {"type": "input_text", "text": "see"},
        {"type": "input_image", "image_url": url(bytes)},
    ]}))
}

/// Which images are left, by the entries of each item.
fn left(items: &[ResponseItem], most: usize) -> Vec<Value> {
    let mut prompt: Vec<Arc<ResponseItem>> = items.iter().cloned().map(Arc::new).collect();
    keep_newest_images(&mut prompt, most);
    let entry = |entry: &Value| match entry["type"].as_str().unwrap() {
        "input_image" => json!("image"),
        _ => entry["text"].clone(),
    };
    let entries = |item: &Arc<ResponseItem>| {
        let item: Value = serde_json::from_str(&item.raw_json()).unwrap();
        let list = [&item["output"], &item["content"]].into_iter().find_map(Value::as_array);
        list.map_or(json!("text"), |list| list.iter().map(entry).collect())
    };
    prompt.iter().map(entries).collect()
}

#[test]
fn the_newest_images_up_to_the_bound_stay() {
    let (kept, gone) = (json!(["see", "image"]), json!(["see", IMAGE_LEFT_OUT]));
    let items = [shown("a", 100), function_output("b", "x"), shown("c", 100), shown("d", 100)];
    assert_eq!(left(&items, 300), [kept.clone(), json!("text"), kept.clone(), kept.clone()]);
    assert_eq!(left(&items, 299), [gone.clone(), json!("text"), kept.clone(), kept.clone()]);
    assert_eq!(left(&items, 200), [gone.clone(), json!("text"), kept.clone(), kept.clone()]);
    assert_eq!(left(&items, 99), [gone.clone(), json!("text"), gone.clone(), gone.clone()]);
    // Once one is left out, all before it are, however small.
    let items = [shown("a", 30), shown("c", 200), shown("d", 100)];
    assert_eq!(left(&items, 150), [gone.clone(), gone, kept]);
}

#[test]
fn images_of_the_user_count_and_links_do_not() {
    let message = item(json!({"type": "message", "role": "user", "content": [
        {"type": "input_text", "text": "mine"},
        {"type": "input_image", "image_url": url(100)},
        {"type": "input_image", "image_url": "https://example.org/a.png"},
        {"type": "input_image", "file_id": "f1"},
    ]}));
    let all = json!(["mine", "image", "image", "image"]);
    assert_eq!(left(std::slice::from_ref(&message), 100), [all]);
    assert_eq!(left(&[message], 99), [json!(["mine", IMAGE_LEFT_OUT, "image", "image"])]);
}

#[test]
fn an_item_that_stays_is_shared() {
    let mut prompt = [Arc::new(shown("a", 100)), Arc::new(shown("b", 100))];
    let before = prompt.clone();
    keep_newest_images(&mut prompt, 150);
    assert!(!Arc::ptr_eq(&prompt[0], &before[0]) && Arc::ptr_eq(&prompt[1], &before[1]));
}

#[test]
fn the_text_says_the_bound() {
    assert_eq!(MAX_PROMPT_IMAGE_BYTES, 48 << 20);
    assert!(IMAGE_LEFT_OUT.contains("48 MiB"));
}

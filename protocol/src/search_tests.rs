use super::*;

#[test]
fn limit_may_be_absent_and_nothing_else() {
    let read = |json: &str| serde_json::from_str::<SearchToolCallParams>(json).map_err(|e| e.to_string());
    assert_eq!(read(r#"{"query":"q"}"#).unwrap(), SearchToolCallParams { query: "q".into(), limit: None });
    assert_eq!(read(r#"{"query":"q","limit":null}"#).unwrap().limit, None);
    assert_eq!(read(r#"{"query":"q","limit":0}"#).unwrap().limit, Some(0));
    assert!(read(r#"{"limit":1}"#).unwrap_err().starts_with("missing field `query`"));
    assert!(read(r#"{"query":"q","limit":-1}"#).is_err());
}

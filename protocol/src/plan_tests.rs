use serde_json::json;

use super::*;

#[test]
fn a_plan_goes_there_and_back() {
    let plan = UpdatePlanArgs {
        explanation: None,
        plan: vec![
            PlanItemArg { step: "a".into(), status: StepStatus::Completed },
            PlanItemArg { step: "b".into(), status: StepStatus::InProgress },
            PlanItemArg { step: "c".into(), status: StepStatus::Pending },
        ],
    };
    let json = json!({"plan": [
        {"step": "a", "status": "completed"},
        {"step": "b", "status": "in_progress"},
        {"step": "c", "status": "pending"},
    ]});
    assert_eq!(serde_json::to_value(&plan).unwrap(), json);
    assert_eq!(serde_json::from_value::<UpdatePlanArgs>(json).unwrap(), plan);
}

#[test]
fn unknown_members_are_refused_at_both_levels() {
    let error = |json: &str| serde_json::from_str::<UpdatePlanArgs>(json).unwrap_err().to_string();
    assert!(error(r#"{"plan":[],"x":1}"#).starts_with("unknown field `x`"));
    assert!(error(r#"{"plan":[{"step":"a","status":"pending","x":1}]}"#).starts_with("unknown field `x`"));
    assert!(error(r#"{"plan":[{"step":"a","status":"done"}]}"#).starts_with("unknown variant `done`"));
    assert!(error(r#"{"explanation":"e"}"#).starts_with("missing field `plan`"));
}

//! `request_user_input`: the model asks the user (core.md 9.9).

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::json;
use tenon_protocol::ToolName;
use tenon_tools::{
    Effects, FunctionCallError, FunctionToolOutput, JsonSchema, PreparedCall, ToolExecutor, ToolInvocation,
    ToolOutput, ToolSpec, TurnMode, UserQuestion, parse_arguments,
};

const NAME: &str = "request_user_input";
const DESCRIPTION: &str = "Asks the user one to three short questions, each with a few choices, and waits for the \
answers. The user can always answer in their own words.";
const NO_OPTIONS: &str = "request_user_input requires non-empty options for every question";
const CANCELLED: &str = "request_user_input was cancelled before receiving a response";

/// The tool.
#[derive(Debug)]
pub struct RequestUserInput {
    name: ToolName,
    in_default_mode: bool,
}

impl Default for RequestUserInput {
    fn default() -> Self {
        Self { name: ToolName::plain(NAME), in_default_mode: false }
    }
}

impl RequestUserInput {
    /// The same tool, usable outside of Plan mode as well.
    #[must_use]
    pub fn in_default_mode(mut self) -> Self {
        self.in_default_mode = true;
        self
    }
}

#[derive(Deserialize)]
struct Arguments {
    questions: Vec<UserQuestion>,
}

#[async_trait]
impl ToolExecutor for RequestUserInput {
    fn name(&self) -> &ToolName {
        &self.name
    }

    fn spec(&self) -> ToolSpec {
        let option = JsonSchema::object(
            [
                ("label", JsonSchema::string("The choice, in one to five words.")),
                ("description", JsonSchema::string("What choosing it means, in one sentence.")),
            ],
            &["label", "description"],
        );
        let question = JsonSchema::object(
            [
                ("id", JsonSchema::string("A name for the answer, in snake_case.")),
                ("header", JsonSchema::string("A title of at most twelve characters.")),
                ("question", JsonSchema::string("The question, in one sentence.")),
                (
                    "options",
                    JsonSchema::array(
                        option,
                        "Two or three choices that exclude each other, the best first.",
                    ),
                ),
            ],
            &["id", "header", "question", "options"],
        );
        let questions = JsonSchema::array(question, "The questions, three at most.");
        ToolSpec::function(NAME, DESCRIPTION, JsonSchema::object([("questions", questions)], &["questions"]))
    }

    async fn prepare(&self, call: &ToolInvocation) -> Result<Box<dyn PreparedCall>, FunctionCallError> {
        let arguments = call.function_arguments(NAME)?;
        let usable = match call.step.mode {
            TurnMode::Plan => true,
            TurnMode::Default => self.in_default_mode,
        };
        if !usable {
            let mode = call.step.mode.name();
            return Err(FunctionCallError::respond(format!(
                "request_user_input is unavailable in {mode} mode"
            )));
        }
        let Arguments { mut questions } = parse_arguments(arguments)?;
        for question in &mut questions {
            if question.options.as_ref().is_none_or(Vec::is_empty) {
                return Err(FunctionCallError::respond(NO_OPTIONS));
            }
            question.is_other = true;
        }
        Ok(Box::new(Prepared { questions, effects: Effects::none() }))
    }
}

struct Prepared {
    questions: Vec<UserQuestion>,
    effects: Effects,
}

#[async_trait]
impl PreparedCall for Prepared {
    fn effects(&self) -> &Effects {
        &self.effects
    }

    async fn run(self: Box<Self>, call: &ToolInvocation) -> Result<Box<dyn ToolOutput>, FunctionCallError> {
        let _open = call.host.questions.open(&call.source);
        let Some(answers) = call.host.elicitor.ask(&call.call_id, self.questions).await else {
            return Err(FunctionCallError::respond(CANCELLED));
        };
        let text = serde_json::to_string(&json!({ "answers": answers })).map_err(|error| {
            FunctionCallError::Fatal(format!("failed to serialize user answers: {error}"))
        })?;
        Ok(Box::new(FunctionToolOutput::from_text(text, Some(true))))
    }
}

#[cfg(test)]
#[path = "request_user_input_tests.rs"]
mod tests;

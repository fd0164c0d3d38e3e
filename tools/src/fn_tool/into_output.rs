//! What a function may return.

use serde::Serialize;
use serde_json::Value;

use crate::{FunctionCallError, FunctionToolOutput, JsonToolOutput, ToolOutput};

/// What an async function may return to be a tool.
///
/// Text, nothing (an empty text), JSON ([`Value`], or [`Json`] of anything that serialises), a [`FunctionToolOutput`]
/// with images, any output in a box; or a result of one of these with an error that becomes a [`FunctionCallError`]:
/// text, or any error in a box.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is nothing that a tool can answer",
    label = "a tool's function must return something that implements `IntoToolOutput`",
    note = "text, `()`, `serde_json::Value`, `Json(anything that serialises)`, `FunctionToolOutput`, \
            `Box<dyn ToolOutput>`, or a `Result` of one of these whose error is text, `FunctionCallError` or \
            `Box<dyn std::error::Error + Send + Sync>`"
)]
pub trait IntoToolOutput {
    /// The output, or why there is none.
    ///
    /// # Errors
    /// What the function said went wrong.
    fn into_tool_output(self) -> Result<Box<dyn ToolOutput>, FunctionCallError>;
}

/// A value that the model reads as compact JSON, and a script as itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Json<T>(pub T);

impl<T: Serialize> IntoToolOutput for Json<T> {
    fn into_tool_output(self) -> Result<Box<dyn ToolOutput>, FunctionCallError> {
        serde_json::to_value(self.0)
            .map_err(|error| {
                FunctionCallError::respond(format!("failed to serialize the tool's output: {error}"))
            })?
            .into_tool_output()
    }
}

impl IntoToolOutput for Value {
    fn into_tool_output(self) -> Result<Box<dyn ToolOutput>, FunctionCallError> {
        Ok(Box::new(JsonToolOutput::new(self)))
    }
}

impl IntoToolOutput for String {
    fn into_tool_output(self) -> Result<Box<dyn ToolOutput>, FunctionCallError> {
        Ok(Box::new(FunctionToolOutput::from_text(self, Some(true))))
    }
}

impl IntoToolOutput for &str {
    fn into_tool_output(self) -> Result<Box<dyn ToolOutput>, FunctionCallError> {
        self.to_owned().into_tool_output()
    }
}

impl IntoToolOutput for () {
    fn into_tool_output(self) -> Result<Box<dyn ToolOutput>, FunctionCallError> {
        String::new().into_tool_output()
    }
}

impl IntoToolOutput for FunctionToolOutput {
    fn into_tool_output(self) -> Result<Box<dyn ToolOutput>, FunctionCallError> {
        Ok(Box::new(self))
    }
}

impl IntoToolOutput for JsonToolOutput {
    fn into_tool_output(self) -> Result<Box<dyn ToolOutput>, FunctionCallError> {
        Ok(Box::new(self))
    }
}

impl IntoToolOutput for Box<dyn ToolOutput> {
    fn into_tool_output(self) -> Result<Box<dyn ToolOutput>, FunctionCallError> {
        Ok(self)
    }
}

impl<T: IntoToolOutput, E: Into<FunctionCallError>> IntoToolOutput for Result<T, E> {
    fn into_tool_output(self) -> Result<Box<dyn ToolOutput>, FunctionCallError> {
        self.map_err(Into::into)?.into_tool_output()
    }
}

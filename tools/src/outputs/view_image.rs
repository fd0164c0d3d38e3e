//! An image for the model.

use serde_json::{Value, json};
use tenon_protocol::{
    CallId, FunctionCallOutputContentItem, FunctionCallOutputPayload, ImageDetail, ResponseInputItem,
};

use super::function_item;
use crate::{ToolOutput, ToolPayload, telemetry_preview};

/// One image, as an item for the model and as an object for scripts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ViewImageOutput {
    /// A `data:` URL.
    pub image_url: String,
    /// How finely the model is to look.
    pub detail: ImageDetail,
}

impl ToolOutput for ViewImageOutput {
    fn log_preview(&self) -> String {
        telemetry_preview(&self.image_url)
    }

    fn success_for_logging(&self) -> bool {
        true
    }

    fn pictures_are_checked(&self) -> bool {
        true
    }

    fn to_response_item(&self, call_id: &CallId, _payload: &ToolPayload) -> ResponseInputItem {
        let image = FunctionCallOutputContentItem::InputImage {
            image_url: Some(self.image_url.clone()),
            file_id: None,
            detail: Some(self.detail),
        };
        function_item(call_id, FunctionCallOutputPayload::items(vec![image]).with_success(true))
    }

    fn code_mode_result(&self, _payload: &ToolPayload) -> Value {
        json!({ "image_url": self.image_url, "detail": self.detail })
    }
}

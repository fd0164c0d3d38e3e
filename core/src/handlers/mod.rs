//! The tools that need nothing but the session: the plan, pictures, questions to the user, the search for tools.

mod request_user_input;
mod tool_search;
mod update_plan;
#[cfg(feature = "images")]
mod view_image;

use std::sync::Arc;

use tenon_tools::ToolExecutor;

pub use request_user_input::RequestUserInput;
pub use tool_search::{SOURCE_DESCRIPTION_MAX_CHARS, TOOL_SEARCH_DEFAULT_LIMIT, ToolSearch};
pub use update_plan::UpdatePlan;
#[cfg(feature = "images")]
pub use view_image::ViewImage;

/// All that a host adds by itself, in the order of registration (core.md 4.4). The session adds the search where there
/// is something to find.
pub fn core_tools() -> Vec<Arc<dyn ToolExecutor>> {
    vec![
        Arc::new(UpdatePlan::default()),
        Arc::new(RequestUserInput::default()),
        #[cfg(feature = "images")]
        Arc::new(ViewImage::default()),
    ]
}

//! The tools that need nothing but the session: the plan, pictures, questions to the user.

mod request_user_input;
mod update_plan;
#[cfg(feature = "images")]
mod view_image;

use std::sync::Arc;

use tenon_tools::ToolExecutor;

pub use request_user_input::RequestUserInput;
pub use update_plan::UpdatePlan;
#[cfg(feature = "images")]
pub use view_image::ViewImage;

/// All of them, in the order of registration (core.md 4.4).
pub fn core_tools() -> Vec<Arc<dyn ToolExecutor>> {
    vec![
        Arc::new(UpdatePlan::default()),
        Arc::new(RequestUserInput::default()),
        #[cfg(feature = "images")]
        Arc::new(ViewImage::default()),
    ]
}

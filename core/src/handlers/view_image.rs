//! `view_image`: the model looks at a picture from the disk (core.md 9.8).

use std::path::PathBuf;

use async_trait::async_trait;
use serde::Deserialize;
use tenon_protocol::{ImageDetail, ToolName};
use tenon_tools::{
    Effects, Event, FunctionCallError, JsonSchema, PreparedCall, ToolExecutor, ToolInvocation, ToolOutput,
    ToolSpec, ViewImageOutput, parse_arguments,
};

use crate::pictures::{self, DecodingMemory};

const NAME: &str = "view_image";
const DESCRIPTION: &str = "Shows you a picture file (PNG, JPEG, WebP or GIF) from the disk.";
const NO_IMAGES: &str = "view_image is not allowed because you do not support image inputs";

/// The tool.
#[derive(Debug)]
pub struct ViewImage {
    name: ToolName,
    memory: DecodingMemory,
}

impl Default for ViewImage {
    fn default() -> Self {
        Self { name: ToolName::plain(NAME), memory: DecodingMemory::shared() }
    }
}

#[derive(Deserialize)]
struct Arguments {
    path: String,
    #[serde(default)]
    detail: Option<String>,
}

#[async_trait]
impl ToolExecutor for ViewImage {
    fn name(&self) -> &ToolName {
        &self.name
    }

    fn spec(&self) -> ToolSpec {
        let path = JsonSchema::string("The file, absolute or relative to the working folder.");
        ToolSpec::function(NAME, DESCRIPTION, JsonSchema::object([("path", path)], &["path"]))
    }

    fn parallel(&self) -> bool {
        true
    }

    async fn prepare(&self, call: &ToolInvocation) -> Result<Box<dyn PreparedCall>, FunctionCallError> {
        if !call.step.abilities.image_input {
            return Err(FunctionCallError::respond(NO_IMAGES));
        }
        let Arguments { path, detail } = parse_arguments(call.function_arguments(NAME)?)?;
        let detail = wanted_detail(detail.as_deref())?;
        let original = call.step.abilities.original_image_detail && detail != Some(ImageDetail::High);
        let path = call.step.cwd.join(path);
        check_file(&path).await?;
        let (file, shown) = (path.clone(), path.display().to_string());
        let failed =
            |error| FunctionCallError::respond(format!("unable to read image at `{shown}`: {error}"));
        let header = file.clone();
        let needed = tokio::task::spawn_blocking(move || pictures::memory_needed(&header, original));
        let taken = self.memory.take(needed.await.map_err(failed)?).await;
        let image_url = tokio::task::spawn_blocking(move || {
            // Held as long as the work goes on, even where nobody waits for it any more.
            let _taken = taken;
            pictures::data_url(&file, original)
        });
        let image_url = image_url.await.map_err(failed)??;
        let detail = if original { ImageDetail::Original } else { ImageDetail::High };
        Ok(Box::new(Prepared {
            path,
            output: ViewImageOutput { image_url, detail },
            effects: Effects::none(),
        }))
    }
}

fn wanted_detail(detail: Option<&str>) -> Result<Option<ImageDetail>, FunctionCallError> {
    match detail {
        None => Ok(None),
        Some("high") => Ok(Some(ImageDetail::High)),
        Some("original") => Ok(Some(ImageDetail::Original)),
        Some(other) => Err(FunctionCallError::respond(format!(
            "view_image.detail only supports `high` or `original`; omit `detail` for default high resized behavior, \
             got `{other}`"
        ))),
    }
}

async fn check_file(path: &PathBuf) -> Result<(), FunctionCallError> {
    let shown = path.display();
    let metadata = tokio::fs::metadata(path).await.map_err(|error| {
        FunctionCallError::respond(format!("unable to locate image at `{shown}`: {error}"))
    })?;
    if metadata.is_file() {
        Ok(())
    } else {
        Err(FunctionCallError::respond(format!("image path `{shown}` is not a file")))
    }
}

struct Prepared {
    path: PathBuf,
    output: ViewImageOutput,
    effects: Effects,
}

#[async_trait]
impl PreparedCall for Prepared {
    fn effects(&self) -> &Effects {
        &self.effects
    }

    async fn run(self: Box<Self>, call: &ToolInvocation) -> Result<Box<dyn ToolOutput>, FunctionCallError> {
        call.host.events.emit(Event::ImageViewed { call_id: call.call_id.clone(), path: self.path });
        Ok(Box::new(self.output))
    }
}

#[cfg(test)]
#[path = "view_image_tests.rs"]
mod tests;

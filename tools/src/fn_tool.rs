//! An async function as a tool.

mod external;
mod into_output;
mod lenient;
mod parameters;

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use async_trait::async_trait;
use serde::de::DeserializeOwned;
use tenon_protocol::ToolName;

use crate::arguments::parse_arguments_with_paths;
use crate::{
    Effects, Event, FunctionCallError, FunctionSpec, JsonSchema, PreparedCall, Recovery, ToolExecutor,
    ToolExposure, ToolInvocation, ToolOutput, ToolSpec,
};

use external::ExternalContext;
pub use into_output::{IntoToolOutput, Json};

type Answer = Result<Box<dyn ToolOutput>, FunctionCallError>;
type Run<A> = dyn Fn(A, ToolInvocation) -> Pin<Box<dyn Future<Output = Answer> + Send>> + Send + Sync;
type EffectsOf<A> = dyn Fn(&A) -> Effects + Send + Sync;

/// The arguments of a tool that takes none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Deserialize, schemars::JsonSchema)]
pub struct NoArguments {}

/// A tool made of a name, a description, and an async function of a struct.
///
/// The struct's `JsonSchema` is what the model is shown of it, doc comments included; its `Deserialize` is what the
/// arguments must fit. Blank arguments are `{}`, unknown members are passed over unless the struct denies them, and
/// what does not fit is answered with the member, the place and what was expected. The arguments are read before
/// anything may refuse the call, the function runs after.
///
/// A tool that touches the world must say so by [`effects`](Self::effects): policy, approval and journal know of
/// nothing else.
///
/// ```
/// use tenon_tools::{FnTool, ToolExecutor, ToolInvocation, ToolPayload};
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Add {
///     /// The first number.
///     left: i64,
///     /// The second number.
///     right: i64,
/// }
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let add = FnTool::new("add", "Adds two numbers.", |args: Add, _call: ToolInvocation| async move {
///     args.left.checked_add(args.right).map(|sum| sum.to_string()).ok_or("the sum is too large")
/// });
///
/// let payload = ToolPayload::Function { arguments: r#"{"left":2,"right":3}"#.to_owned() };
/// let call = ToolInvocation::detached(add.name().clone(), payload.clone());
/// let output = add.prepare(&call).await.unwrap().run(&call).await.unwrap();
/// assert_eq!(output.code_mode_result(&payload), "5");
/// # });
/// ```
pub struct FnTool<A> {
    name: ToolName,
    function: FunctionSpec,
    /// What is said of the namespace that the tool is in.
    namespace_description: String,
    exposure: ToolExposure,
    parallel: bool,
    lenient: bool,
    external_context: bool,
    recovery: Recovery,
    effects: Option<Arc<EffectsOf<A>>>,
    run: Arc<Run<A>>,
}

impl<A> fmt::Debug for FnTool<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FnTool")
            .field("name", &self.name)
            .field("exposure", &self.exposure)
            .field("parallel", &self.parallel)
            .finish_non_exhaustive()
    }
}

impl<A> FnTool<A>
where
    A: DeserializeOwned + schemars::JsonSchema + Send + Sync + 'static,
{
    /// A tool for everybody that runs alone, is exact about its arguments, and does nothing to the world.
    ///
    /// The function may return whatever is [`IntoToolOutput`], or a result of it.
    pub fn new<F, Fut>(name: &str, description: impl Into<String>, function: F) -> Self
    where
        F: Fn(A, ToolInvocation) -> Fut + Send + Sync + 'static,
        Fut: Future + Send + 'static,
        Fut::Output: IntoToolOutput,
    {
        let run = move |arguments, call| -> Pin<Box<dyn Future<Output = Answer> + Send>> {
            let future = function(arguments, call);
            Box::pin(async move { future.await.into_tool_output() })
        };
        Self {
            name: ToolName::plain(name).with_default_namespace(),
            function: FunctionSpec::new(name, description, parameters::parameters_of::<A>()),
            namespace_description: String::new(),
            exposure: ToolExposure::Direct,
            parallel: false,
            lenient: false,
            external_context: false,
            recovery: Recovery::Tell,
            effects: None,
            run: Arc::new(run),
        }
    }
}

impl<A> FnTool<A> {
    /// The same inside a namespace, which is described for the model; a blank description becomes the default one.
    #[must_use]
    pub fn in_namespace(mut self, namespace: &str, description: impl Into<String>) -> Self {
        self.name = ToolName::new(Some(namespace), &self.function.name).with_default_namespace();
        self.namespace_description = description.into();
        self
    }

    /// Calls may run beside others.
    #[must_use]
    pub fn parallel(mut self) -> Self {
        self.parallel = true;
        self
    }

    /// Who may see and call it.
    #[must_use]
    pub fn exposure(mut self, exposure: ToolExposure) -> Self {
        self.exposure = exposure;
        self
    }

    /// What a call would do to the world. Without it, nothing.
    #[must_use]
    pub fn effects(mut self, effects: impl Fn(&A) -> Effects + Send + Sync + 'static) -> Self {
        self.effects = Some(Arc::new(effects));
        self
    }

    /// Its answers carry text from outside this machine.
    #[must_use]
    pub fn external_context(mut self) -> Self {
        self.external_context = true;
        self
    }

    /// What a call does twice is as if it were done once: one that a crash has cut off may be run again.
    #[must_use]
    pub fn idempotent(mut self) -> Self {
        self.recovery = Recovery::RunAgain;
        self
    }

    /// What it gives to scripts.
    #[must_use]
    pub fn output_schema(mut self, schema: JsonSchema) -> Self {
        self.function = self.function.with_output_schema(schema);
        self
    }

    /// Arguments that don't fit are tried once more with what nobody could misunderstand: an object or a list that
    /// came as a string of JSON, and a number or a boolean that came as a string, where the schema asks for one and
    /// nothing is lost. A string that is asked for is left alone. Every such repair is told in an
    /// [`Event::Warning`]; hooks saw the arguments as they came.
    #[must_use]
    pub fn lenient(mut self) -> Self {
        self.lenient = true;
        self
    }
}

impl<A: DeserializeOwned> FnTool<A> {
    fn read(&self, raw: &str, call: &ToolInvocation) -> Result<A, FunctionCallError> {
        let refused = match parse_arguments_with_paths(raw) {
            Ok(arguments) => return Ok(arguments),
            Err(refused) => refused,
        };
        if !self.lenient {
            return Err(refused);
        }
        let Some(repaired) = lenient::repair(raw, &self.function.parameters) else { return Err(refused) };
        let arguments = parse_arguments_with_paths(&repaired.arguments).map_err(|_| refused)?;
        for note in repaired.notes {
            call.host.events.emit(Event::Warning { message: format!("{}: {note}", self.name) });
        }
        Ok(arguments)
    }
}

#[async_trait]
impl<A: DeserializeOwned + Send + Sync + 'static> ToolExecutor for FnTool<A> {
    fn name(&self) -> &ToolName {
        &self.name
    }

    fn spec(&self) -> ToolSpec {
        match self.name.namespace() {
            Some(namespace) if !self.name.is_default_namespace() => {
                ToolSpec::in_namespace(namespace, &self.namespace_description, self.function.clone())
            }
            Some(_) | None => ToolSpec::Function(self.function.clone()),
        }
    }

    fn exposure(&self) -> ToolExposure {
        self.exposure
    }

    fn parallel(&self) -> bool {
        self.parallel
    }

    fn recovery(&self) -> Recovery {
        self.recovery
    }

    async fn prepare(&self, call: &ToolInvocation) -> Result<Box<dyn PreparedCall>, FunctionCallError> {
        let raw = call.function_arguments(self.name.name())?;
        let arguments = self.read(raw, call)?;
        let effects = self.effects.as_ref().map(|effects| effects(&arguments)).unwrap_or_default();
        let run = Arc::clone(&self.run);
        Ok(Box::new(PreparedFn { arguments, effects, run, external_context: self.external_context }))
    }
}

/// A call whose arguments have been read.
struct PreparedFn<A> {
    arguments: A,
    effects: Effects,
    run: Arc<Run<A>>,
    external_context: bool,
}

#[async_trait]
impl<A: Send + Sync + 'static> PreparedCall for PreparedFn<A> {
    fn effects(&self) -> &Effects {
        &self.effects
    }

    async fn run(self: Box<Self>, call: &ToolInvocation) -> Answer {
        let output = (self.run)(self.arguments, call.clone()).await?;
        Ok(if self.external_context { Box::new(ExternalContext(output)) } else { output })
    }
}

#[cfg(test)]
#[path = "fn_tool_tests.rs"]
mod tests;

//! That nothing can be imported (runtime.md C5.3).

use std::cell::Cell;
use std::rc::Rc;

use rquickjs::loader::{ImportAttributes, Loader, Resolver};
use rquickjs::module::Declared;
use rquickjs::{Ctx, Error, IntoJs, Module};

/// What an `import()` is rejected with.
const DYNAMIC: &str = "unsupported import in exec";

/// Refuses every import with a plain string. Imports that are looked up before the script runs are static ones.
#[derive(Clone, Default)]
pub(super) struct NoImports {
    runs: Rc<Cell<bool>>,
}

impl NoImports {
    /// The script runs from now on.
    pub(super) fn script_runs(&self) {
        self.runs.set(true);
    }
}

impl Resolver for NoImports {
    fn resolve<'js>(
        &mut self,
        ctx: &Ctx<'js>,
        _base: &str,
        name: &str,
        _attributes: Option<ImportAttributes<'js>>,
    ) -> rquickjs::Result<String> {
        let text =
            if self.runs.get() { DYNAMIC.to_owned() } else { format!("Unsupported import in exec: {name}") };
        Err(ctx.throw(text.into_js(ctx)?))
    }
}

impl Loader for NoImports {
    fn load<'js>(
        &mut self,
        _ctx: &Ctx<'js>,
        name: &str,
        _attributes: Option<ImportAttributes<'js>>,
    ) -> rquickjs::Result<Module<'js, Declared>> {
        Err(Error::new_loading(name))
    }
}

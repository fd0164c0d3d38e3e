//! Going over every schema inside a schema.

use super::{AdditionalProperties, JsonSchema};

impl JsonSchema {
    /// Shows `see` this schema and every one inside it, this one first.
    pub(crate) fn visit<'a>(&'a self, see: &mut impl FnMut(&'a JsonSchema)) {
        see(self);
        for child in self.children() {
            child.visit(see);
        }
    }

    /// The schemas directly inside this one.
    fn children(&self) -> impl Iterator<Item = &JsonSchema> {
        let additional = match &self.additional_properties {
            Some(AdditionalProperties::Schema(schema)) => Some(schema.as_ref()),
            Some(AdditionalProperties::Allowed(_)) | None => None,
        };
        let lists = [&self.any_of, &self.one_of, &self.all_of];
        let tables = [&self.properties, &self.defs, &self.definitions];
        self.items
            .as_deref()
            .into_iter()
            .chain(additional)
            .chain(lists.into_iter().flatten().flatten())
            .chain(tables.into_iter().flatten().flat_map(|table| table.values()))
    }

    /// Lets `change` have every schema directly inside this one.
    pub(crate) fn for_each_child_mut(&mut self, change: &mut impl FnMut(&mut JsonSchema)) {
        if let Some(items) = &mut self.items {
            change(items);
        }
        if let Some(AdditionalProperties::Schema(schema)) = &mut self.additional_properties {
            change(schema);
        }
        for list in [&mut self.any_of, &mut self.one_of, &mut self.all_of] {
            list.iter_mut().flatten().for_each(&mut *change);
        }
        for table in [&mut self.properties, &mut self.defs, &mut self.definitions] {
            table.iter_mut().flat_map(|table| table.values_mut()).for_each(&mut *change);
        }
    }
}

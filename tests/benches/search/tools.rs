//! Texts of tools as an MCP catalogue has them: made up, always the same.

const VERBS: &[&str] = &[
    "create", "list", "update", "delete", "fetch", "search", "archive", "publish", "merge", "schedule",
    "cancel", "export", "import", "assign", "comment", "resolve", "upload", "download", "validate", "render",
];
const THINGS: &[&str] = &[
    "issue",
    "branch",
    "pull_request",
    "calendar_event",
    "invoice",
    "customer",
    "document",
    "page",
    "database",
    "table",
    "query",
    "dashboard",
    "alert",
    "pipeline",
    "deployment",
    "container",
    "image",
    "chart",
    "message",
    "channel",
    "meeting",
    "contact",
    "ticket",
    "playlist",
    "weather_forecast",
    "route",
    "payment",
    "webhook",
    "repository",
    "snapshot",
];
const WORDS: &[&str] = &[
    "the",
    "a",
    "of",
    "for",
    "with",
    "in",
    "and",
    "by",
    "to",
    "existing",
    "new",
    "given",
    "workspace",
    "project",
    "organization",
    "user",
    "optional",
    "filters",
    "returns",
    "matching",
    "results",
    "including",
    "metadata",
    "status",
    "owner",
    "labels",
    "sorted",
    "creation",
    "date",
    "page",
    "cursor",
    "limit",
    "permissions",
    "required",
    "identifier",
    "name",
    "title",
    "content",
    "markdown",
    "format",
    "attachments",
    "history",
    "comments",
    "notifications",
    "settings",
    "timezone",
    "currency",
    "amount",
    "region",
    "version",
    "environment",
    "logs",
    "metrics",
    "duration",
    "priority",
    "assignee",
    "milestone",
    "template",
    "schema",
    "columns",
    "rows",
    "values",
];
const PARAMETERS: &[&str] = &[
    "id",
    "name",
    "title",
    "owner",
    "repo",
    "query",
    "limit",
    "cursor",
    "page_size",
    "startDate",
    "endDate",
    "includeArchived",
    "labels",
    "body",
    "workspace_id",
    "format",
];

/// What somebody looks for.
pub(super) const QUERIES: &[&str] = &[
    "create a calendar event",
    "weather forecast for a city",
    "merge pull request",
    "list open issues with labels sorted by creation date",
    "export invoice as markdown",
    "deployment logs and metrics of an environment",
    "search customers by name",
    "upload an image attachment to a ticket",
    "cancel payment",
    "zzzzqqq",
];

/// The texts of so many tools.
pub(super) fn texts(count: usize) -> Vec<String> {
    let mut random = Random(0x5eed);
    (0..count).map(|number| text(number, &mut random)).collect()
}

fn text(number: usize, random: &mut Random) -> String {
    let (verb, thing) = (random.one_of(VERBS), random.one_of(THINGS));
    let server = format!("server{}", number % 97);
    let name = format!("{verb}_{thing}_{}", number % 41);
    let mut description = format!("{verb} a {}", thing.replace('_', " "));
    for _ in 0..random.below(24) + 8 {
        description.push(' ');
        description.push_str(random.one_of(WORDS));
    }
    let mut parameters: Vec<_> = (0..random.below(5) + 1).map(|_| random.one_of(PARAMETERS)).collect();
    parameters.sort_unstable();
    let parameters = parameters.join(" ");
    format!("mcp__{server}{name} {name} {name} {server} {description}. Tools of {server}. {parameters}")
}

/// A linear congruential generator: the same numbers in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % limit
    }

    fn one_of(&mut self, words: &[&'static str]) -> &'static str {
        words[self.below(words.len())]
    }
}

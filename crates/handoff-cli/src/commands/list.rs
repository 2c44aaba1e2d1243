//! `handoff list`: requests as a table.

use handoff_client::RequestFilter;
use handoff_protocol::{
    decision::{WaiterRef, terms::RequestState, view::RequestView},
    json::Json,
};

use crate::{
    exit::Exit,
    failure::Failure,
    output::{self, Output},
    remote::Remote,
};

/// The most that one page holds.
const PAGE: u64 = 200;

/// List requests, oldest first.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Only requests in this state; repeatable
    #[arg(long = "state", value_name = "STATE", value_parser = parse_state)]
    states: Vec<RequestState>,
    /// Only the requests of this waiter
    #[arg(long, value_name = "REF", value_parser = parse_waiter)]
    waiter_ref: Option<WaiterRef>,
    /// How many at the most
    #[arg(long, default_value_t = 100, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    limit: u64,
    #[command(flatten)]
    output: Output,
    #[command(flatten)]
    remote: Remote,
}

pub(crate) async fn run(args: Args) -> Result<Exit, Failure> {
    let client = args.remote.machine()?;
    let mut filter = RequestFilter { states: args.states, waiter_ref: args.waiter_ref, ..RequestFilter::default() };
    let mut found: Vec<RequestView> = Vec::new();
    let more = loop {
        let wanted = args.limit.saturating_sub(u64::try_from(found.len()).unwrap_or(u64::MAX));
        if wanted == 0 {
            break true;
        }
        filter.limit = Some(wanted.min(PAGE));
        let page = client.requests(&filter).await?;
        found.extend(page.data);
        match page.next_cursor {
            Some(cursor) if page.has_more => filter.cursor = Some(cursor),
            _ => break false,
        }
    };
    let json = output::json(&found)?;
    args.output.result(&json, || {
        let rows: Vec<_> = found.iter().map(row).collect();
        output::table(["REQUEST", "STATE", "ASKED", "UNTIL", "TITLE"], &rows)
    })?;
    if more {
        output::note("there may be more; --limit shows more of them");
    }
    Ok(Exit::Done)
}

fn row(request: &RequestView) -> [String; 5] {
    [
        request.id.to_string(),
        format!("{}{}", request.state.as_str(), if request.test_mode { " (test)" } else { "" }),
        request.created_at.to_string(),
        request.expires_at.map_or_else(|| "-".to_owned(), |at| at.to_string()),
        request.prompt.get("title").and_then(Json::as_str).unwrap_or_default().to_owned(),
    ]
}

fn parse_state(text: &str) -> Result<RequestState, String> {
    RequestState::ALL.iter().find(|(name, _)| *name == text).map(|(_, state)| *state).ok_or_else(|| {
        let names: Vec<&str> = RequestState::ALL.iter().map(|(name, _)| *name).collect();
        format!("the states are {}", names.join(", "))
    })
}

fn parse_waiter(text: &str) -> Result<WaiterRef, String> {
    WaiterRef::parse(text).map_err(|error| error.to_string())
}

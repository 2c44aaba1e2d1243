//! Playing steps: one file a verb.

mod call;
mod chain;
mod each;
mod hook;
mod nowhere;
mod receipt;
mod received;
mod repeated;
mod together;

use std::{future::Future, pin::Pin};

use crate::{
    case::{Step, Verb},
    failure::Failure,
    receiver::Conduct,
    story::Story,
};

/// Plays steps in order, up to the first that fails.
///
/// # Errors
///
/// How that one failed.
pub fn play<'story>(
    story: &'story mut Story,
    steps: &'story [Step],
) -> Pin<Box<dyn Future<Output = Result<(), Failure>> + Send + 'story>> {
    Box::pin(async move {
        for (number, step) in (1..).zip(steps) {
            let outcome = perform(story, &step.verb).await;
            outcome.map_err(|failure| failure.within(&name(number, &step.verb), step.why.as_ref()))?;
        }
        Ok(())
    })
}

async fn perform(story: &mut Story, verb: &Verb) -> Result<(), Failure> {
    match verb {
        Verb::Call(call) => call::once(story, call).await,
        Verb::Together(together) => together::play(story, together).await,
        Verb::Until(call, time) => repeated::until(story, call, *time).await,
        Verb::Always(call, time) => repeated::always(story, call, *time).await,
        Verb::Each(each) => each::play(story, each).await,
        Verb::Hook(hook) => hook::play(story, hook).await,
        Verb::Chain(chain) => chain::play(story, chain).await,
        Verb::Receipt(receipt) => receipt::play(story, receipt).await,
        Verb::Received(received) => received::play(story, received).await,
        Verb::Nowhere(nowhere) => nowhere::play(story, nowhere).await,
        Verb::Receive(receive) => {
            let conduct =
                Conduct { statuses: receive.statuses.clone(), headers: receive.headers.clone(), delay: receive.delay };
            story.world.receiver.conduct(&format!("{}{}", story.own_path, receive.path), conduct);
            Ok(())
        }
        Verb::Check(template, expect) => {
            let value = story.scope.value(template).map_err(Failure::of)?;
            story.hold("what is checked", Some(expect), Some(&value))
        }
        Verb::Set(values) => {
            values.iter().try_for_each(|(name, template)| story.scope.define(name, template)).map_err(Failure::of)
        }
    }
}

/// A step by its place and what it does.
fn name(number: usize, verb: &Verb) -> String {
    let verb = match verb {
        Verb::Call(call) => &call.line,
        Verb::Together(together) => return format!("step {number} ({} calls together)", together.calls.len()),
        Verb::Until(call, _) => return format!("step {number} (until {})", call.line),
        Verb::Always(call, _) => return format!("step {number} (always {})", call.line),
        Verb::Each(_) => "each",
        Verb::Hook(hook) => return format!("step {number} (hook {})", hook.name),
        Verb::Chain(_) => "chain",
        Verb::Receipt(_) => "receipt",
        Verb::Receive(_) => "receive",
        Verb::Received(_) => "received",
        Verb::Nowhere(_) => "nowhere",
        Verb::Check(..) => "check",
        Verb::Set(_) => "set",
    };
    format!("step {number} ({verb})")
}

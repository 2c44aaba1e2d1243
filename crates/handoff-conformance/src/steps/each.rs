//! Steps repeated for each value.

use serde_json::{Value, json};

use crate::{case::Each, failure::Failure, json::brief, steps, story::Story};

/// Plays the steps once for each value.
pub(super) async fn play(story: &mut Story, each: &Each) -> Result<(), Failure> {
    let values = story.scope.value(&each.values).map_err(Failure::of)?;
    let Value::Array(values) = values else {
        return Err(Failure::of(format!("what is to be gone through is no array: {}", brief(&values))));
    };
    if values.is_empty() {
        return Err(Failure::of("there is nothing to go through"));
    }
    for (number, value) in (1..).zip(values) {
        let place = format!("for {}", brief(&value));
        story.scope.set(&each.name, value);
        story.scope.set("nth", json!(number));
        steps::play(story, &each.steps).await.map_err(|failure| failure.within(&place, None))?;
    }
    Ok(())
}

//! A fixed amount of work for a program that counts instructions: `cargo xtask instructions` runs it under valgrind.
//!
//! `instructions OPERATION TIMES` prepares the same however often the operation is to be done, so that the difference of
//! two runs is the operation alone. Raises and answers go through the whole server but its socket: routes, engine,
//! SQLite on disk.

mod world;

use std::{env, error::Error, hint::black_box};

use handoff_protocol::bundle::{self, Trust};

use crate::world::World;

/// How many requests are there before anything is counted.
const PREPARED: usize = 300;

/// How many receipts a bundle has that is verified.
const RECEIPTS: usize = 100;

/// The allocator that the server has, so that its instructions are counted.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1);
    let operation = arguments.next().ok_or("name an operation: raise, answer or verify")?;
    let times: usize = arguments.next().ok_or("say how often")?.parse()?;
    // One thread beside the store's own: what is counted does not depend on who was faster.
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(work(&operation, times))
}

async fn work(operation: &str, times: usize) -> Result<(), Box<dyn Error>> {
    let world = World::new().await?;
    let mut raised = Vec::new();
    for number in 0..PREPARED {
        raised.push(world.raise(number).await?);
    }
    match operation {
        "raise" => {
            for number in 0..times {
                black_box(world.raise(PREPARED + number).await?);
            }
        }
        "answer" => {
            for request in raised.iter().take(times) {
                world.answer(request).await?;
            }
        }
        "verify" => {
            for request in raised.iter().take(RECEIPTS) {
                world.answer(request).await?;
            }
            let text = world.export().await?;
            for _ in 0..times {
                let report = bundle::verify(black_box(text.as_bytes()), &Trust::default())?;
                if !report.is_sound() {
                    return Err("the bundle does not verify".into());
                }
            }
        }
        _ => return Err("no such operation".into()),
    }
    Ok(())
}

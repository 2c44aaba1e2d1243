//! The pages on which people answer. They work as they come from the server; one small script, where it runs, keeps them
//! up to date and in the zone of their reader.
//!
//! [`router`] is all there is to mount. The pages translate and never decide: every rule is the engine's, and what it
//! refuses is shown in words beside the field that it is about.
//!
//! | module | what lives there |
//! |---|---|
//! | `pages` | one file a page: inbox, request, answer, proof, settings, entering and leaving; and the events that they follow |
//! | `prompt`, `table`, `answer_form`, `control`, `outcome`, `notice` | what a page shows of a request: its evidence, its form, its fields, its receipt, what there is to say |
//! | `besides`, `story`, `resource` | what else can be done with it, what was done so far, what may be used on the way |
//! | `markdown`, `address`, `visible` | text of others: what may become a tag, a link, a character |
//! | `form`, `submission` | from a submitted form to the body of an answer |
//! | `pretty` | documents as people read and edit them |
//! | `session`, `origin`, `headers`, `streams` | who is asking, whether our own page sent the form, what browsers may do, how many may follow |
//! | `page`, `words`, `reader`, `when`, `assets` | the frame around each page, its words in each language, who reads it, its times, its stylesheet and script |

mod address;
mod answer_form;
mod assets;
mod besides;
mod control;
mod form;
mod headers;
mod markdown;
mod notice;
mod origin;
mod outcome;
mod page;
mod pages;
mod pretty;
mod prompt;
mod reader;
mod resource;
mod session;
mod site;
mod story;
mod streams;
mod submission;
mod table;
mod visible;
mod when;
mod words;

use axum::{
    Router,
    extract::DefaultBodyLimit,
    middleware,
    routing::{get, post},
};
use handoff_engine::Engine;

use self::site::Site;

/// The largest form that is read, in bytes.
const FORM_BYTES: usize = 256 * 1024;

/// The pages over an engine: the inbox, requests, one-time links, settings, and the script.
///
/// | route | what it does |
/// |---|---|
/// | `GET /` | lists the pending requests that wait for the visitor, most urgent first; with `?show=all` all of them |
/// | `GET /events` | tells, as server-sent events, when that list is out of date |
/// | `GET /requests/{id}` | shows a request with its form, or what it came to (rule V-11: opening it asks who you are) |
/// | `POST /requests/{id}` | answers it |
/// | `POST /requests/{id}/pass-on`, `POST /requests/{id}/unable` | passes it on, or says that the visitor cannot answer it |
/// | `GET /requests/{id}/events` | tells when that page is out of date |
/// | `GET /requests/{id}/proof` | the receipt with what proves it, as a file |
/// | `GET /enter/{token}` | shows who a one-time link is for, and uses nothing up |
/// | `POST /enter/{token}` | uses the link up, ends the session that the browser had, and begins a new one |
/// | `GET /settings` | language, time zone, signing out everywhere |
/// | `POST /settings` | remembers language and zone in the browser |
/// | `POST /leave`, `POST /leave/everywhere` | ends the session, or all sessions of the person |
///
/// `GET`, `HEAD` and `OPTIONS` change nothing. Other paths are left to the router that this one is merged into, so
/// there is no fallback here.
///
/// The engine's public base has to be the address that people open: cookies are `Secure` if it is `https`, and forms are
/// accepted from it, or from the host that they are sent to, alone.
///
/// ```no_run
/// # async fn serve(engine: handoff_engine::Engine, listener: tokio::net::TcpListener) -> std::io::Result<()> {
/// axum::serve(listener, handoff_web::router(engine)).await
/// # }
/// ```
pub fn router(engine: Engine) -> Router {
    let site = Site::new(engine);
    Router::new()
        .route("/", get(pages::inbox::show))
        .route("/requests/{id}", get(pages::request::show).post(pages::answer::submit))
        .route("/requests/{id}/pass-on", post(pages::besides::pass_on))
        .route("/requests/{id}/unable", post(pages::besides::unable))
        .route("/enter/{token}", get(pages::enter::show).post(pages::enter::submit))
        .route("/requests/{id}/events", get(pages::events::request))
        .route("/requests/{id}/proof", get(pages::proof::show))
        .route("/events", get(pages::events::inbox))
        .route("/settings", get(pages::settings::show).post(pages::settings::submit))
        .route("/leave", post(pages::leave::submit))
        .route("/leave/everywhere", post(pages::leave::submit_everywhere))
        .route(assets::script_path(), get(assets::script))
        .method_not_allowed_fallback(pages::method_not_allowed)
        .route_layer(DefaultBodyLimit::max(FORM_BYTES))
        .route_layer(middleware::map_response(headers::protect))
        .with_state(site)
}

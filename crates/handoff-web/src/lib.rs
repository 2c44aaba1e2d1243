//! The pages on which people answer, as they come from the server: no script runs on them.
//!
//! [`router`] is all there is to mount. The pages translate and never decide: every rule is the engine's, and what it
//! refuses is shown in words beside the field that it is about.
//!
//! | module | what lives there |
//! |---|---|
//! | `pages` | one file a page: inbox, request, answer, entering and leaving |
//! | `prompt`, `table`, `answer_form`, `control`, `outcome`, `notice` | what a page shows of a request: its evidence, its form, its fields, its receipt, what there is to say |
//! | `form`, `submission` | from a submitted form to the body of an answer |
//! | `pretty` | documents as people read and edit them |
//! | `session`, `origin`, `headers` | who is asking, whether our own page sent the form, and what browsers may do |
//! | `page`, `words`, `when`, `assets` | the frame around each page, its words, its times, its stylesheet |

mod answer_form;
mod assets;
mod control;
mod form;
mod headers;
mod notice;
mod origin;
mod outcome;
mod page;
mod pages;
mod pretty;
mod prompt;
mod session;
mod site;
mod submission;
mod table;
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

/// The pages over an engine: the inbox, requests, one-time links and the stylesheet.
///
/// | route | what it does |
/// |---|---|
/// | `GET /` | lists the pending requests, oldest first |
/// | `GET /requests/{id}` | shows a request with its form, or what it came to (rule V-11: opening it asks who you are) |
/// | `POST /requests/{id}` | answers it |
/// | `GET /enter/{token}` | shows who a one-time link is for, and uses nothing up |
/// | `POST /enter/{token}` | uses the link up and begins a session |
/// | `POST /leave` | ends the session |
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
        .route("/enter/{token}", get(pages::enter::show).post(pages::enter::submit))
        .route("/leave", post(pages::leave::submit))
        .route(assets::stylesheet_path(), get(assets::stylesheet))
        .method_not_allowed_fallback(pages::method_not_allowed)
        .route_layer(DefaultBodyLimit::max(FORM_BYTES))
        .route_layer(middleware::map_response(headers::protect))
        .with_state(site)
}

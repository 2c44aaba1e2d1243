//! A person at a browser: opens pages, keeps the session's cookie, fills in forms and sends them.

use std::sync::Arc;

use reqwest::{
    Client, RequestBuilder, StatusCode,
    header::{CONTENT_TYPE, COOKIE, LOCATION, ORIGIN, SET_COOKIE},
    redirect,
};
use rustls::{ClientConfig, RootCertStore, crypto::ring};

use super::form::Form;
use crate::failure::Failure;

/// A browser without scripts, on one site.
pub(super) struct Browser {
    http: Client,
    /// The site, without a slash at the end.
    site: String,
    cookie: Option<String>,
}

/// A page, and where it is.
pub(super) struct Page {
    path: String,
    html: String,
}

impl Browser {
    pub(super) fn new(site: String) -> Result<Self, Failure> {
        let failed = |error: String| Failure::failed(format!("the demo's browser cannot start: {error}"));
        // The site is on this machine and speaks plain HTTP: TLS is configured to trust nobody.
        let tls = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|error| failed(error.to_string()))?
            .with_root_certificates(RootCertStore::empty())
            .with_no_client_auth();
        let http = Client::builder()
            .tls_backend_preconfigured(tls)
            .no_proxy()
            .redirect(redirect::Policy::none())
            .build()
            .map_err(|error| failed(error.to_string()))?;
        Ok(Self { http, site, cookie: None })
    }

    /// Opens a page.
    pub(super) async fn open(&mut self, path: &str) -> Result<Page, Failure> {
        let request = self.http.get(format!("{}{path}", self.site));
        self.fetch(request, path.to_owned()).await
    }

    /// Sends a form and follows to the page that it leads to.
    pub(super) async fn send(&mut self, page: &Page, form: &Form) -> Result<Page, Failure> {
        let path = form.action.clone().unwrap_or_else(|| page.path.clone());
        let request = self
            .http
            .post(format!("{}{path}", self.site))
            .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
            .header(ORIGIN, &self.site)
            .body(form.body());
        self.fetch(request, path).await
    }

    async fn fetch(&mut self, mut request: RequestBuilder, mut path: String) -> Result<Page, Failure> {
        // No page of ours leads further than one step.
        for _ in 0..3 {
            if let Some(cookie) = &self.cookie {
                request = request.header(COOKIE, cookie);
            }
            let response = request.send().await.map_err(|error| Failure::failed(format!("the page: {error}")))?;
            let header = |name| response.headers().get(name).and_then(|value| value.to_str().ok());
            if let Some(cookie) = header(SET_COOKIE).and_then(|cookie| cookie.split(';').next()) {
                self.cookie = Some(cookie.to_owned());
            }
            if response.status() == StatusCode::SEE_OTHER
                && let Some(location) = header(LOCATION)
            {
                path = location.strip_prefix(&self.site).unwrap_or(location).to_owned();
                request = self.http.get(format!("{}{path}", self.site));
                continue;
            }
            let status = response.status();
            let html = response.text().await.map_err(|error| Failure::failed(format!("the page: {error}")))?;
            if !status.is_success() {
                return Err(Failure::failed(format!("the page answered with status {status}")));
            }
            return Ok(Page { path, html });
        }
        Err(Failure::failed("the page leads in circles"))
    }
}

impl Page {
    /// The form that is sent to this page itself.
    pub(super) fn form(&self) -> Result<Form, Failure> {
        Form::all(&self.html)
            .into_iter()
            .find(|form| form.action.as_ref().is_none_or(|action| *action == self.path))
            .ok_or_else(|| Failure::failed("the page has no form to fill in"))
    }

    /// Whether the page shows these words.
    pub(super) fn shows(&self, words: &str) -> bool {
        self.html.contains(words)
    }
}

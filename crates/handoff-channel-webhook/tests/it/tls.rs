//! TLS: a certificate that is trusted and names the host is enough, another is not.

use std::{io::Read as _, io::Write as _, net::TcpListener, sync::Arc};

use handoff_channel_webhook::{Guard, WebhookTransport};
use handoff_engine::callback::CallbackTransport as _;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::{
    ClientConfig, RootCertStore, ServerConfig, ServerConnection, StreamOwned,
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer},
};

use super::receiver::post;

const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";

/// A receiver for `localhost`, and the certificate of the authority that vouches for it.
fn serve() -> (u16, CertificateDer<'static>) {
    let mut authority = CertificateParams::new(Vec::new()).unwrap();
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(authority, KeyPair::generate().unwrap()).unwrap();
    let key = KeyPair::generate().unwrap();
    let certificate =
        CertificateParams::new(vec!["localhost".to_owned()]).unwrap().signed_by(&key, &authority).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(
            vec![certificate.der().clone()],
            PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der())),
        )
        .unwrap();
    let config = Arc::new(config);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let connection = ServerConnection::new(Arc::clone(&config)).unwrap();
            let mut stream = StreamOwned::new(connection, stream.unwrap());
            // A client that does not trust us hangs up here.
            if stream.read(&mut [0; 4096]).is_ok() {
                let _ = stream.write_all(ANSWER);
                stream.conn.send_close_notify();
                let _ = stream.flush();
            }
        }
    });
    (port, authority.der().clone())
}

fn trusting(authority: CertificateDer<'static>) -> WebhookTransport {
    let mut roots = RootCertStore::empty();
    roots.add(authority).unwrap();
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    WebhookTransport::new(Guard::Open).tls(Arc::new(config))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_certificate_that_is_trusted_and_names_the_host_is_enough() {
    let (port, authority) = serve();
    let (_, stranger) = serve();
    let trusted = trusting(authority);
    assert_eq!(trusted.post(&post(format!("https://localhost:{port}/"))).await.status, Some(200));
    assert_eq!(trusted.post(&post(format!("https://127.0.0.1:{port}/"))).await.error, Some("tls_failed"));
    assert_eq!(trusting(stranger).post(&post(format!("https://localhost:{port}/"))).await.error, Some("tls_failed"));
    let system = WebhookTransport::new(Guard::Open);
    assert_eq!(system.post(&post(format!("https://localhost:{port}/"))).await.error, Some("tls_failed"));
}

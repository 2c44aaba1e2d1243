//! TLS: a server whose certificate the operating system trusts is spoken to, another one is not.

use std::{
    fs,
    io::{Read as _, Write as _},
    net::TcpListener,
    sync::Arc,
};

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::{
    ServerConfig, ServerConnection, StreamOwned,
    crypto::ring,
    pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer},
};

use super::bench::{self, bare};

const ANSWER: &str = "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 47\r\n\r\n\
    {\"data\":[],\"has_more\":false,\"next_cursor\":null}";

/// A server for `localhost`, and the certificate of the authority that vouches for it.
fn serve() -> (u16, String) {
    let mut authority = CertificateParams::new(Vec::new()).unwrap();
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(authority, KeyPair::generate().unwrap()).unwrap();
    let key = KeyPair::generate().unwrap();
    let certificate =
        CertificateParams::new(vec!["localhost".to_owned()]).unwrap().signed_by(&key, &authority).unwrap();
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], key)
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
                let _ = stream.write_all(ANSWER.as_bytes());
                stream.conn.send_close_notify();
                let _ = stream.flush();
            }
        }
    });
    (port, authority.pem())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_trusted_certificate_is_enough_and_another_is_not() {
    let (port, authority) = serve();
    let (_, stranger) = serve();
    let directory = tempfile::tempdir().unwrap();
    let trusted = directory.path().join("trusted.pem");
    for (pem, code) in [(authority, 0), (stranger, 4)] {
        fs::write(&trusted, pem).unwrap();
        let mut command = bare(&["list", "--json", "--url", &format!("https://localhost:{port}")]);
        command.env("HANDOFF_API_KEY", "key").env("SSL_CERT_FILE", &trusted).env_remove("SSL_CERT_DIR");
        let ran = bench::run(command, "").await;
        assert_eq!(ran.code, code, "{}{}", ran.out, ran.err);
    }
}

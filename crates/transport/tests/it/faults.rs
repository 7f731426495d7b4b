//! Each way in which a send can fail, and what it proves.

use surefill_core::NotSent;
use surefill_transport::{Method, Request, SendFailure};
use tokio::net::TcpListener;

use crate::server::{Act, Server, answer, client, hasty, post};

fn assert_unknown(result: Result<surefill_transport::Answer, SendFailure>) -> String {
    match result {
        Err(SendFailure::Unknown(cause)) => {
            assert!(!cause.to_string().contains("TOPSECRETKEY"));
            cause.to_string()
        }
        other => panic!("must be unknown: {other:?}"),
    }
}

#[tokio::test]
async fn an_answer_comes_back_as_it_was() {
    let server = Server::start(vec![answer("200 OK", "{\"a\":1}")]).await;
    let answer = client().send(post(&server.url), None).await.expect("sent");
    assert_eq!(answer.status(), 200);
    assert_eq!(answer.body(), b"{\"a\":1}");
    assert_eq!(answer.header("x-mixed-CASE"), Some("yes"));
    let seen = server.seen();
    assert!(
        seen.starts_with("POST /order?a=%3D1&b=x,y HTTP/1.1\r\n"),
        "{seen}"
    );
    assert!(seen.ends_with("\r\n\r\n{\"qty\": \"1\"}"), "{seen}");
    assert!(
        seen.to_ascii_lowercase().contains("content-length: 12\r\n"),
        "{seen}"
    );
    assert!(
        !seen.to_ascii_lowercase().contains("accept-encoding"),
        "{seen}"
    );
}

#[tokio::test]
async fn a_refused_connect_is_not_sent() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    drop(listener);
    for request in [post(&url), Request::new(Method::Get, &url)] {
        match client().send(request, None).await {
            Err(SendFailure::NotSent(NotSent::Connect(why))) => {
                assert!(why.contains("refused"), "{why}");
            }
            other => panic!("must not be sent: {other:?}"),
        }
    }
}

#[tokio::test]
async fn a_tls_handshake_that_never_ends_is_not_sent() {
    let server = Server::start(vec![Act::Listen]).await;
    let url = server.url.replace("http://", "https://");
    let failure = hasty()
        .send(post(&url), None)
        .await
        .expect_err("no TLS here");
    assert!(
        matches!(failure, SendFailure::NotSent(NotSent::Connect(_))),
        "{failure:?}"
    );
    assert_eq!(server.posts(), 0);
}

#[tokio::test]
async fn a_reset_before_the_request_is_read_is_unknown() {
    let server = Server::start(vec![Act::ResetBefore]).await;
    assert_unknown(client().send(post(&server.url), None).await);
    assert_eq!(server.connections(), 1, "one try");
}

#[tokio::test]
async fn a_reset_after_the_request_is_read_is_unknown() {
    let server = Server::start(vec![Act::ResetAfter, answer("200 OK", "")]).await;
    assert_unknown(client().send(post(&server.url), None).await);
    assert_eq!(server.posts(), 1, "one try");
    assert_eq!(server.connections(), 1, "one try");
}

#[tokio::test]
async fn a_redirect_is_an_answer_and_is_not_followed() {
    let to = answer("200 OK", "");
    let redirect = Act::Answer(
        b"HTTP/1.1 307 Temporary Redirect\r\nLocation: /again\r\nContent-Length: 0\r\n\r\n"
            .to_vec(),
    );
    let server = Server::start(vec![redirect, to]).await;
    let answer = client().send(post(&server.url), None).await.expect("sent");
    assert_eq!(answer.status(), 307);
    assert_eq!(server.posts(), 1);
}

#[tokio::test]
async fn a_server_error_is_an_answer_and_is_not_repeated() {
    for status in [
        "429 Too Many Requests",
        "502 Bad Gateway",
        "503 Service Unavailable",
    ] {
        let server = Server::start(vec![answer(status, "<html>"), answer("200 OK", "")]).await;
        let answer = client().send(post(&server.url), None).await.expect("sent");
        assert!(status.starts_with(&answer.status().to_string()));
        assert_eq!(server.posts(), 1);
    }
}

/// The server closes the pooled connection while the second request is on its way: it is written at most once more.
#[tokio::test]
async fn a_pooled_connection_that_the_server_closes_gets_one_request() {
    for _ in 0..50 {
        let server = Server::start(vec![
            answer("200 OK", ""),
            Act::ResetAfter,
            answer("200 OK", ""),
            answer("200 OK", ""),
        ])
        .await;
        let client = client();
        client.send(post(&server.url), None).await.expect("sent");
        assert_unknown(client.send(post(&server.url), None).await);
        assert_eq!(server.posts(), 2, "the second was written once");
    }
}

/// Closed before the second request: either the client saw it and made a new connection, or the send is in doubt; never two.
#[tokio::test]
async fn a_pooled_connection_that_was_closed_gets_at_most_one_request() {
    for _ in 0..50 {
        let server = Server::start(vec![
            answer("200 OK", ""),
            Act::Close,
            answer("200 OK", ""),
            answer("200 OK", ""),
        ])
        .await;
        let client = client();
        client.send(post(&server.url), None).await.expect("sent");
        let second = client.send(post(&server.url), None).await;
        assert!(
            matches!(second, Ok(_) | Err(SendFailure::Unknown(_))),
            "{second:?}"
        );
        assert!(server.posts() <= 2, "{}", server.posts());
    }
}

#[tokio::test]
async fn silence_is_unknown() {
    let server = Server::start(vec![Act::Silence]).await;
    assert_unknown(hasty().send(post(&server.url), None).await);
    assert_eq!(server.posts(), 1);
}

#[tokio::test]
async fn a_cut_answer_is_unknown() {
    let cut = b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"retCode\":0".to_vec();
    let server = Server::start(vec![Act::Answer(cut), Act::Close]).await;
    assert_unknown(client().send(post(&server.url), None).await);
    assert_eq!(server.posts(), 1);
}

#[tokio::test]
async fn an_answer_that_is_no_http_is_unknown() {
    let server = Server::start(vec![Act::Answer(b"SSH-2.0-x\r\n\r\n".to_vec()), Act::Close]).await;
    assert_unknown(client().send(post(&server.url), None).await);
}

#[tokio::test]
async fn an_answer_over_the_bound_is_unknown() {
    let server = Server::start(vec![answer("200 OK", &"x".repeat(1025))]).await;
    let why = assert_unknown(client().send(post(&server.url), None).await);
    assert!(why.contains("1024"), "{why}");
    let server = Server::start(vec![answer("200 OK", &"x".repeat(1024))]).await;
    assert!(client().send(post(&server.url), None).await.is_ok());
}

#[tokio::test]
async fn a_url_or_header_that_cannot_be_sent_is_not_sent_and_keeps_its_secret() {
    for request in [
        Request::new(Method::Post, "no url").body("x"),
        Request::new(Method::Post, "http://127.0.0.1:1").header("X-KEY", "TOPSECRETKEY\n"),
    ] {
        let failure = client()
            .send(request, None)
            .await
            .expect_err("cannot be sent");
        assert!(matches!(failure, SendFailure::NotSent(_)), "{failure:?}");
        assert!(!format!("{failure:?} {failure}").contains("TOPSECRETKEY"));
    }
}

#[test]
fn no_header_value_is_printed() {
    let request = post("http://127.0.0.1:1");
    let text = format!("{request:?}");
    assert!(text.contains("X-API-KEY"), "{text}");
    assert!(!text.contains("TOPSECRETKEY"), "{text}");
    assert!(!text.contains("qty"), "{text}");
}

/// The variables are read when a client is built, so a child of this very test is started with them.
#[tokio::test]
async fn proxies_of_the_environment_are_not_used() {
    const URL: &str = "SUREFILL_TRANSPORT_TEST_URL";
    if let Ok(url) = std::env::var(URL) {
        let answer = client().send(post(&url), None).await.expect("sent");
        assert_eq!(answer.body(), b"direct");
        return;
    }
    let server = Server::start(vec![answer("200 OK", "direct")]).await;
    let proxy = Server::start(vec![answer("200 OK", "through the proxy")]).await;
    let mut child = std::process::Command::new(std::env::current_exe().expect("a path"));
    child
        .args(["--exact", "faults::proxies_of_the_environment_are_not_used"])
        .env(URL, &server.url)
        .env_remove("NO_PROXY")
        .env_remove("no_proxy");
    for name in [
        "http_proxy",
        "HTTP_PROXY",
        "https_proxy",
        "HTTPS_PROXY",
        "all_proxy",
        "ALL_PROXY",
    ] {
        child.env(name, &proxy.url);
    }
    let output = tokio::task::spawn_blocking(move || child.output())
        .await
        .expect("joined")
        .expect("ran");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}");
    assert!(said.contains("1 passed"), "{said}");
    assert_eq!(server.posts(), 1);
    assert_eq!(proxy.connections(), 0);
}

# syntax=docker/dockerfile:1
# The server and the command line in an image without a shell, run by nobody in particular. See docs/operating.md.

FROM rust:1.95-bookworm AS build
WORKDIR /src
COPY . .
RUN --mount=type=cache,target=/usr/local/cargo/registry \
    --mount=type=cache,target=/src/target \
    cargo build --locked --release --package handoff-server --package handoff-cli \
    && install -D --target-directory=/out/bin target/release/handoffd target/release/handoff \
    && install -d -m 0700 /out/data

# glibc, the certificates that addresses are checked against, and an account; nothing else.
FROM gcr.io/distroless/cc-debian12:nonroot
COPY --from=build /out/bin/ /usr/local/bin/
COPY --from=build --chown=65532:65532 /out/data /data
# Only /data is written to, so the rest can be read-only: docker run --read-only.
WORKDIR /data
VOLUME ["/data"]
ENV HANDOFF_BIND=[::]:8080 \
    HANDOFF_DATABASE_URL=sqlite:/data/handoff.db \
    HANDOFF_SIGNING_KEY_FILE=/data/signing-key.json
EXPOSE 8080
USER 65532:65532
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 CMD ["/usr/local/bin/handoffd", "ready"]
ENTRYPOINT ["/usr/local/bin/handoffd"]
CMD ["serve"]

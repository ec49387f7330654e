# The gateway as a container image: one static program, certificates, no shell, not root.
#
#   docker build -t drawbridge .
#   docker build -t drawbridge --build-arg RUN_IMAGE=gcr.io/distroless/static-debian12:nonroot .
#
# make image writes the same image without a daemon or registry.

# Any image with Go and CA certificates.
ARG BUILD_IMAGE=golang:1.26.8-bookworm
# Any image, also an empty one: all that the program needs is copied into it.
ARG RUN_IMAGE=scratch

FROM --platform=$BUILDPLATFORM ${BUILD_IMAGE} AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG TARGETOS=linux
ARG TARGETARCH
ARG VERSION=dev
ARG COMMIT=unknown
RUN CGO_ENABLED=0 GOOS=${TARGETOS} GOARCH=${TARGETARCH} go build -tags grpcnotrace -trimpath -buildvcs=false \
        -ldflags "-s -w -X main.version=${VERSION} -X main.commit=${COMMIT}" -o /out/drawbridge ./cmd/drawbridge \
    && mkdir -p /out/etc/drawbridge /out/etc/ssl/certs /out/state /out/tmp \
    && cp /etc/ssl/certs/ca-certificates.crt /out/etc/ssl/certs/

FROM ${RUN_IMAGE}
COPY --from=build /out/etc/ /etc/
COPY --from=build --chmod=1777 /out/tmp /tmp
# The place for server.state_dir.
COPY --from=build --chown=65532:65532 --chmod=0700 /out/state /var/lib/drawbridge
COPY --from=build /out/drawbridge /drawbridge
USER 65532:65532
EXPOSE 8080
STOPSIGNAL SIGTERM
ENTRYPOINT ["/drawbridge"]
CMD ["serve", "--config", "/etc/drawbridge/drawbridge.yaml"]

package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintf(os.Stderr, "conformance: %v\n", err)
		os.Exit(1)
	}
}

// run serves on an address until the context ends, and changes the document when it is asked to.
func run(ctx context.Context, args []string) error {
	if len(args) != 2 {
		return fmt.Errorf("usage: conformance ADDRESS DOCUMENT")
	}
	l, err := net.Listen("tcp", args[0])
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	server := &http.Server{Handler: service(args[1]), ReadHeaderTimeout: 5 * time.Second}
	stop := context.AfterFunc(ctx, func() { server.Close() })
	defer stop()
	if err := server.Serve(l); err != http.ErrServerClosed {
		return fmt.Errorf("serve: %w", err)
	}
	return nil
}

// service has one route for each tool in openapi.yaml, of which document is a copy.
func service(document string) http.Handler {
	mux := http.NewServeMux()
	text := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		io.WriteString(w, "This is a simple text response for testing.")
	}
	mux.HandleFunc("GET /text", text)
	mux.HandleFunc("GET /text/", text)
	mux.HandleFunc("POST /change", func(w http.ResponseWriter, r *http.Request) {
		if err := change(document); err != nil {
			http.Error(w, "the document can't be changed", http.StatusInternalServerError)
			return
		}
		io.WriteString(w, "The list of tools is about to change.")
	})
	mux.HandleFunc("GET /image", func(w http.ResponseWriter, r *http.Request) {
		img := image.NewGray(image.Rect(0, 0, 8, 8))
		img.SetGray(3, 3, color.Gray{Y: 255})
		w.Header().Set("Content-Type", "image/png")
		_ = png.Encode(w, img) // the client sees a broken answer
	})
	mux.HandleFunc("GET /audio", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "audio/wav")
		w.Write(silence())
	})
	mux.HandleFunc("GET /error", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(http.StatusUnprocessableEntity)
		io.WriteString(w, `{"title":"Unprocessable","status":422,"detail":"This tool intentionally returns an error for testing."}`)
	})
	mux.HandleFunc("POST /schema", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `{"ok":true}`)
	})
	return mux
}

// another is one more operation, at the end of the document.
const another = `  /changed:
    get:
      operationId: test_changed
      summary: A tool that comes and goes
      responses: {"200": {description: Done, content: {text/plain: {}}}}
`

// change adds an operation to the document, or takes it out.
func change(document string) error {
	text, err := os.ReadFile(document)
	if err != nil {
		return err
	}
	if before, found := bytes.CutSuffix(text, []byte(another)); found {
		text = before
	} else {
		text = append(text, another...)
	}
	if err := os.WriteFile(document+".new", text, 0o600); err != nil {
		return err
	}
	return os.Rename(document+".new", document)
}

// silence is a WAVE file (RIFF, PCM, one channel, 8 kHz, 8 bits) of ten milliseconds.
func silence() []byte {
	samples := make([]byte, 80)
	for i := range samples {
		samples[i] = 128
	}
	le := binary.LittleEndian
	b := append([]byte("RIFF"), le.AppendUint32(nil, uint32(36+len(samples)))...)
	b = append(b, "WAVEfmt "...)
	b = le.AppendUint32(b, 16)
	b = le.AppendUint16(b, 1) // PCM
	b = le.AppendUint16(b, 1) // channels
	b = le.AppendUint32(b, 8000)
	b = le.AppendUint32(b, 8000)
	b = le.AppendUint16(b, 1)
	b = le.AppendUint16(b, 8)
	b = append(b, "data"...)
	b = le.AppendUint32(b, uint32(len(samples)))
	return append(b, samples...)
}

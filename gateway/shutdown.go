package gateway

import (
	"context"
	"errors"

	"drawbridge/gateway/mcp"
)

// EndStreams ends the streams of subscriptions and refuses new ones; streams of the stateless family end with their result. It
// also ends the goroutines that follow jobs with a webhook. It returns when they have ended, or with ctx's error. It is called
// when the listener is shut down, which waits for whatever is open.
func (s *surface) EndStreams(ctx context.Context) error {
	brokers := s.mcpHandlers.EndAllStreams()
	errs := []error{s.tasks.Followers.Stop(ctx)}
	for _, broker := range brokers {
		errs = append(errs, broker.Drain(ctx))
	}
	return errors.Join(errs...)
}

// EndAnswers waits for the responses that [net/http.Server.Shutdown] does not wait for: those to slow readers. It is called
// after Shutdown. When ctx ends it cuts the remaining ones and returns ctx's error.
func (s *surface) EndAnswers(ctx context.Context) error { return s.mcpHandlers.Readers.Drain(ctx) }

// EndCalls cancels the running calls of clients of the legacy family, which outlive their requests. Other calls end with the
// contexts of their requests, if these have the cause [ErrEnding]. All of them are answered with an error that names the
// shutdown.
func (s *surface) EndCalls() { s.mcpHandlers.Calls.Shutdown() }

// ErrEnding is the cause with which the contexts of requests are cancelled when the process ends first.
var ErrEnding = mcp.ErrShutdown

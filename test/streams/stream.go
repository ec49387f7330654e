package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const subscription = `{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},"_meta":{` +
	`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`

// opener opens a stream of changes; n tells streams apart.
type opener func(ctx context.Context, host string, n int) (io.ReadCloser, error)

// dialStream opens one over HTTP/1.1, on a connection without anything of net/http's, so that this process needs little.
func dialStream(ctx context.Context, host string, n int) (io.ReadCloser, error) {
	const each = 10_000 // connections from one address, which has some 28,000 ports
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, byte(2+n/each))}}
	conn, err := d.DialContext(ctx, "tcp", host)
	if err != nil {
		return nil, err
	}
	_, err = fmt.Fprintf(conn, "POST /mcp HTTP/1.1\r\nHost: %s\r\nUser-Agent: streams/1\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"+
		"MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: subscriptions/listen\r\nContent-Length: %d\r\n\r\n%s", host, len(subscription), subscription)
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	return conn, nil
}

// http2 opens streams over HTTP/2 in clear, many on a connection.
type http2 struct{ client http.Client }

func newHTTP2() *http2 {
	t := &http.Transport{Protocols: new(http.Protocols)}
	t.Protocols.SetUnencryptedHTTP2(true)
	return &http2{http.Client{Transport: t}}
}

func (h *http2) open(ctx context.Context, host string, _ int) (io.ReadCloser, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+host+"/mcp", strings.NewReader(subscription))
	if err != nil {
		return nil, err
	}
	for name, value := range map[string]string{
		"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "subscriptions/listen",
	} {
		req.Header.Set(name, value)
	}
	resp, err := h.client.Do(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK || resp.ProtoMajor != 2 {
		_ = resp.Body.Close()
		return nil, fmt.Errorf("%s over %s", resp.Status, resp.Proto)
	}
	return resp.Body, nil
}

// listeners are clients that read streams of changes.
type listeners struct {
	all   []*listener
	ended sync.WaitGroup
	told  atomic.Int64 // of all of them
}

// listener is one of them.
type listener struct {
	body  io.ReadCloser
	told  atomic.Int64  // how often it was told that tools have changed
	acked chan struct{} // closed when the stream is acknowledged, or has ended
	err   error         // what ended it before that
	done  bool          // it ended with its result; of read, until that has returned
}

// listen opens streams, and returns when all are acknowledged.
func listen(ctx context.Context, host string, streams int, open opener) (*listeners, error) {
	const dialers = 32
	l := &listeners{all: make([]*listener, streams)}
	errs := make([]error, dialers)
	var wg sync.WaitGroup
	for d := range dialers {
		wg.Go(func() {
			for n := d; n < streams && errs[d] == nil; n += dialers {
				body, err := open(ctx, host, n)
				if err != nil {
					errs[d] = fmt.Errorf("stream %d: %w", n, err)
					return
				}
				one := &listener{body: body, acked: make(chan struct{})}
				l.all[n] = one
				l.ended.Go(func() { one.read(&l.told) })
				if <-one.acked; one.err != nil {
					errs[d] = fmt.Errorf("stream %d: %w", n, one.err)
				}
			}
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		l.close()
		return nil, err
	}
	return l, nil
}

// read counts what the stream tells, until it ends.
func (l *listener) read(all *atomic.Int64) {
	acked := false
	r := bufio.NewReaderSize(l.body, 512)
	for {
		line, err := r.ReadSlice('\n')
		switch {
		case err != nil && !errors.Is(err, bufio.ErrBufferFull):
			if !acked {
				l.err = fmt.Errorf("before it was acknowledged: %w", err)
				close(l.acked)
			}
			return
		case !acked && bytes.Contains(line, []byte("/acknowledged")):
			acked = true
			close(l.acked)
		case bytes.Contains(line, []byte(`"resultType"`)):
			l.done = true
		case bytes.Contains(line, []byte("tools/list_changed")):
			l.told.Add(1)
			all.Add(1)
		}
	}
}

// await returns when all of them were told so often, each of n changes once, or when the time is up.
func (l *listeners) await(ctx context.Context, n int) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	want := int64(n) * int64(len(l.all))
	for l.told.Load() < want {
		select {
		case <-ctx.Done():
			return fmt.Errorf("%d notifications have come, want %d: %w", l.told.Load(), want, ctx.Err())
		case <-time.After(time.Millisecond):
		}
	}
	return nil
}

// uneven counts the streams that were not told of each of n changes once.
func (l *listeners) uneven(n int) (streams int) {
	for _, one := range l.all {
		if one.told.Load() != int64(n) {
			streams++
		}
	}
	return streams
}

// cut waits until all streams have ended, and counts those that did without their result.
func (l *listeners) cut() (streams int) {
	l.ended.Wait()
	for _, one := range l.all {
		if !one.done {
			streams++
		}
	}
	return streams
}

// close leaves all streams.
func (l *listeners) close() {
	for _, one := range l.all {
		if one != nil {
			_ = one.body.Close()
		}
	}
	l.ended.Wait()
}

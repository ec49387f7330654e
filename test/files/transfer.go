package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
)

// content is an endless file that is no text.
type content struct{ left int64 }

var block = append([]byte("%PDF-1.7\n"), bytes.Repeat([]byte{0xfe, 0x39, 0x00, 0x81}, 16<<10)...)

// Read implements [io.Reader].
func (c *content) Read(p []byte) (int, error) {
	if c.left == 0 {
		return 0, io.EOF
	}
	n := copy(p[:min(int64(len(p)), c.left)], block)
	c.left -= int64(n)
	return n, nil
}

// fileService sends and takes files.
type fileService struct {
	size int64 // of the file that it sends
}

// ServeHTTP implements [http.Handler].
func (s *fileService) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet {
		w.Header().Set("Content-Type", "application/pdf")
		w.Header().Set("Content-Length", strconv.FormatInt(s.size, 10))
		_, _ = io.Copy(w, &content{s.size}) // a client that is gone reports it
		return
	}
	n, err := io.Copy(io.Discard, r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	fmt.Fprintf(w, `{"received":%d}`, n)
}

var client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 8, DisableCompression: true, WriteBufferSize: 64 << 10, ReadBufferSize: 64 << 10}}

func reachable(url string) error {
	resp, err := client.Get(url + "/small")
	if err != nil {
		return err
	}
	return resp.Body.Close()
}

// parts returns what is measured, those of the proxy before those that are compared with it.
func (w *world) parts(s *settings) []part {
	uri := ""
	g, at200 := w.gateway, fmt.Sprintf("%d files of %d MiB at once", s.parallel, s.small>>20)
	upload := func(size int64) (string, error) { return w.upload(size) }
	pass := func(tool, argument string, want int64) func() error {
		return func() error {
			return w.call(tool, fmt.Sprintf(`{%q:%q}`, argument, uri), fmt.Sprintf(`\"received\":%d`, want))
		}
	}
	return []part{
		{name: "proxy: request body", child: w.proxy, bytes: s.size, f: func() error { return transfer(http.MethodPut, w.proxyURL+"/binary", s.size, 0) }},
		{name: "proxy: response body", child: w.proxy, bytes: s.size, f: func() error { return transfer(http.MethodGet, w.proxyURL+"/report", 0, s.size) }},
		{name: "upload", child: g, bytes: s.size, bounded: true, goal: ">= 200 MB/s, or the disk's", least: 200, f: func() (err error) {
			uri, err = upload(s.size)
			return err
		}},
		{name: "response stored", child: g, bytes: s.size, bounded: true, goal: ">= 200 MB/s, or the disk's", least: 200, f: func() error { return w.call("report", "{}", "drawbridge-file:") }},
		{name: "download", child: g, bytes: s.size, bounded: true, against: "proxy: response body", f: func() error {
			return transfer(http.MethodGet, w.base+"/files/"+strings.TrimPrefix(uri, "drawbridge-file:"), 0, s.size)
		}},
		{name: "file passed on", child: g, bytes: s.size, bounded: true, against: "proxy: request body", f: pass("binary", "body", s.size)},
		{name: "file passed on as base64 in JSON", child: g, bytes: s.size, bounded: true, f: pass("mail", "file", int64(base64.StdEncoding.EncodedLen(int(s.size)))+int64(len(`{"file":""}`)))},
		{name: at200 + ", uploaded", child: g, bytes: int64(s.parallel) * s.small, f: func() error {
			var wait sync.WaitGroup
			failures := make([]error, s.parallel)
			for i := range failures {
				wait.Go(func() { _, failures[i] = upload(s.small) })
			}
			wait.Wait()
			return errors.Join(failures...)
		}},
	}
}

// transfer sends a body of a size, and checks the size of the response unless that is 0.
func transfer(method, url string, send, want int64) error {
	r, err := http.NewRequest(method, url, &content{send})
	if err != nil {
		return err
	}
	if r.ContentLength = send; send == 0 {
		r.Body = http.NoBody
	}
	resp, err := client.Do(r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	n, err := io.Copy(io.Discard, resp.Body)
	if err == nil && (resp.StatusCode != http.StatusOK || want > 0 && n != want) {
		err = fmt.Errorf("%s with %d bytes, want %d", resp.Status, n, want)
	}
	return err
}

// upload sends a file to the gateway, and returns its URI.
func (w *world) upload(size int64) (uri string, err error) {
	r, err := http.NewRequest(http.MethodPost, w.base+"/files", &content{size})
	if err != nil {
		return "", err
	}
	r.ContentLength = size
	r.Header.Set("Content-Disposition", `attachment; filename="a.pdf"`)
	resp, err := client.Do(r)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	var stored struct {
		URI  string
		Size int64
	}
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return "", err
	}
	if err := json.Unmarshal(text, &stored); err != nil || stored.Size != size {
		return "", fmt.Errorf("%s: %.300s", resp.Status, text)
	}
	return stored.URI, nil
}

// call calls a tool. The answer must contain want.
func (w *world) call(tool, arguments, want string) error {
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"files","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`, tool, arguments)
	r, err := http.NewRequest(http.MethodPost, w.base+"/mcp", strings.NewReader(body))
	if err != nil {
		return err
	}
	for name, value := range map[string]string{"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": tool} {
		r.Header.Set(name, value)
	}
	resp, err := client.Do(r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err == nil && (!strings.Contains(string(text), want) || strings.Contains(string(text), `"isError":true`)) {
		err = fmt.Errorf("%s: %.500s", resp.Status, text)
	}
	return err
}

package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"time"

	"drawbridge/test/openload"
	"drawbridge/test/process"
)

// services are the services that the gateways call, and where their documents are.
type services struct {
	documents *httptest.Server
	things    *httptest.Server // of all APIs without one of their own
	payments  *httptest.Server // wants the certificate of a client
	orders    *restartable
	authority *authority

	reportsDelay, jobsDelay atomic.Int64 // nanoseconds
	rotated                 atomic.Bool  // stock wants another token
	changed                 atomic.Bool  // the document of billing is not the one that it was
}

// restartable is a service that can be ended and started at the same address.
type restartable struct {
	address string
	handler http.Handler
	server  *http.Server
}

func (r *restartable) start() error {
	l, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", r.address)
	if err != nil {
		return err
	}
	r.server = &http.Server{Handler: r.handler, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = r.server.Serve(l) }() // ends with Close
	return nil
}

// document is the document of an API with a tool of the same name, and of billing also with one that nobody is to have.
func (s *services) document(api string) string {
	internal := ""
	if api == "billing" {
		tags := `"tags":["internal"],`
		if s.changed.Load() {
			tags = ""
		}
		internal = `,"/purge":{"post":{` + tags + `"operationId":"purge","responses":{"200":{"description":"ok"}}}}`
	}
	return fmt.Sprintf(`{"openapi":"3.1.0","info":{"title":%[1]q,"version":"1"},"paths":{"/%[1]s/{id}":{"get":{"operationId":%[1]q,
"parameters":[{"name":"id","in":"path","required":true,"schema":{"type":"string"}}],"responses":{"200":{"description":"ok"}}}}%[2]s}}`, api, internal)
}

// answer answers a call.
func (s *services) answer(w http.ResponseWriter, r *http.Request) {
	parts := strings.Split(r.URL.Path, "/") // "", api, id
	switch parts[1] {
	case "reports":
		openload.Pause(r.Context(), time.Duration(s.reportsDelay.Load()))
	case "jobs":
		openload.Pause(r.Context(), time.Duration(s.jobsDelay.Load()))
	case "stock":
		if r.Header.Get("Authorization") != "Bearer "+s.token() {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = fmt.Fprintf(w, `{"id":%q}`, parts[len(parts)-1])
}

// token is the token that stock takes.
func (s *services) token() string {
	if s.rotated.Load() {
		return "second-token"
	}
	return "first-token"
}

func startServices() (s *services, err error) {
	s = &services{}
	s.documents = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprint(w, s.document(strings.Trim(r.URL.Path, "/")))
	}))
	s.things = httptest.NewServer(http.HandlerFunc(s.answer))
	if s.authority, err = newAuthority(); err != nil {
		return s, err
	}
	certificate, err := s.authority.issue("payments", time.Now().Add(24*time.Hour))
	if err != nil {
		return s, err
	}
	s.payments = httptest.NewUnstartedServer(http.HandlerFunc(s.answer))
	s.payments.TLS = &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{certificate}, ClientCAs: s.authority.pool(), ClientAuth: tls.RequireAndVerifyClientCert}
	s.payments.Config.SetKeepAlivesEnabled(false) // each call shows the certificate
	s.payments.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.payments.StartTLS()
	s.orders = &restartable{handler: http.HandlerFunc(s.answer)}
	if s.orders.address, err = process.FreeAddress(); err != nil {
		return s, err
	}
	return s, s.orders.start()
}

func (s *services) close() error {
	var err error
	for _, server := range []*httptest.Server{s.documents, s.things, s.payments} {
		if server != nil {
			server.CloseClientConnections()
			server.Close()
		}
	}
	if s.orders != nil && s.orders.server != nil {
		err = s.orders.server.Close()
	}
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

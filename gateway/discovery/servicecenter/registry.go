package servicecenter

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"
)

const (
	timeout = 10 * time.Second // for one answer
	maxSize = 32 << 20         // bytes of an answer
	maxRead = 256 << 20        // bytes of all answers, until all services are known, and of all schemas
)

// detail is a microservice with its instances.
type detail struct {
	Service   microservice
	Instances []instance
}

// microservice is one version of a microservice.
type microservice struct {
	ID          string            `json:"serviceId"`
	Environment string            `json:"environment"`
	Application string            `json:"appId"`
	Name        string            `json:"serviceName"`
	Version     string            `json:"version"`
	Status      string            `json:"status"`
	Schemas     []string          `json:"schemas"`
	Properties  map[string]string `json:"properties"`
	Modified    string            `json:"modTimestamp"`
}

// instance is one process of a microservice.
type instance struct {
	Endpoints []string `json:"endpoints"`
	Status    string   `json:"status"`
}

// schema is a contract of a microservice. Text is "" if only its summary was asked for.
type schema struct {
	ID      string `json:"schemaId"`
	Summary string `json:"summary"`
	Text    string `json:"schema"`
	path    string // that Text declares, see [basePath]
}

// services returns all microservices. They are not taken from govern/microservices, which has their instances too: that request makes
// service-center 1.4 forget the schemas and properties of all microservices, for all its clients.
func (p *Provider) services(ctx context.Context) ([]microservice, error) {
	var answer map[string]json.RawMessage
	at := p.at("registry", "microservices")
	if err := p.get(ctx, at, &answer); err != nil {
		return nil, err
	}
	list, ok := answer["services"]
	if !ok {
		if len(answer) > 0 {
			return nil, fmt.Errorf("%s: the answer has no services; is it service-center?", at)
		}
		return nil, nil // an empty list is left out
	}
	var services []microservice
	if err := json.Unmarshal(list, &services); err != nil {
		return nil, fmt.Errorf("%s: services: %w", at, err)
	}
	return services, nil
}

// instances returns the instances of a microservice; none if it was removed after it was listed.
func (p *Provider) instances(ctx context.Context, service string) ([]instance, error) {
	var answer struct {
		Instances []instance `json:"instances"`
	}
	err := p.get(ctx, p.at("registry", "microservices", service, "instances"), &answer)
	if errors.Is(err, errBadRequest) {
		return nil, nil
	}
	return answer.Instances, err
}

// schemas returns the schemas of a microservice, with their texts if texts is set.
func (p *Provider) schemas(ctx context.Context, service string, texts bool) ([]schema, error) {
	var answer struct {
		Schemas []schema `json:"schemas"`
	}
	at := p.at("registry", "microservices", service, "schemas")
	if texts {
		at.RawQuery = "withSchema=1"
	}
	err := p.get(ctx, at, &answer)
	return answer.Schemas, err
}

// at returns a URL of the registry's API, version 4.
func (p *Provider) at(elements ...string) *url.URL {
	all := []string{"v4", p.d.Project}
	for _, e := range elements {
		all = append(all, url.PathEscape(e))
	}
	return p.d.Address.URL().JoinPath(all...)
}

// errBadRequest is also the answer for a microservice that does not exist.
var errBadRequest = errors.New("expected status 200, got 400")

// errUnauthorized means that the account's token is not valid any more.
var errUnauthorized = errors.New("expected status 200, got 401; username and password are those of an account with the right to read services")

// get reads an answer of the registry.
func (p *Provider) get(ctx context.Context, at *url.URL, answer any) error {
	return p.account.Do(ctx, func(token string) error { return p.send(ctx, http.MethodGet, at, token, nil, answer) })
}

// login returns a token for the account.
func (p *Provider) login(ctx context.Context) (string, error) {
	body, err := json.Marshal(map[string]string{"name": p.d.Username, "password": p.d.Password.Reveal()})
	if err != nil {
		return "", err
	}
	var answer struct {
		Token string `json:"token"`
	}
	at := p.d.Address.URL().JoinPath("v4", "token")
	if err := p.send(ctx, http.MethodPost, at, "", body, &answer); err != nil {
		return "", err
	}
	if answer.Token == "" {
		return "", fmt.Errorf("%s: the answer has no token", at)
	}
	return answer.Token, nil
}

// send sends a request and reads its answer.
func (p *Provider) send(ctx context.Context, method string, at *url.URL, token string, body []byte, answer any) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, at.String(), bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Accept", "application/json")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := p.client.Do(req)
	if err != nil {
		return fmt.Errorf("%s: %w", at, err)
	}
	defer resp.Body.Close()
	switch {
	case resp.StatusCode == http.StatusUnauthorized:
		return fmt.Errorf("%s: %w", at, errUnauthorized)
	case resp.StatusCode == http.StatusBadRequest:
		return fmt.Errorf("%s: %w", at, errBadRequest)
	case resp.StatusCode != http.StatusOK:
		return fmt.Errorf("%s: expected status 200, got %d", at, resp.StatusCode)
	}
	if err := p.budget.ReadJSON(resp.Body, maxSize, answer); err != nil {
		return fmt.Errorf("%s: %w", at, err)
	}
	return nil
}

package nacos

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"drawbridge/gateway/discovery"
)

const (
	timeout  = 10 * time.Second // for one answer
	maxSize  = 32 << 20         // bytes of an answer
	maxRead  = 256 << 20        // bytes of all answers, until all services are known
	pageSize = 500              // services that are listed at a time
	maxPages = 1000             // of a group; those of other groups whose names contain that of the group count, too
)

// version is the version of the HTTP API of a server: 3 of servers since 3.0, 1 of those before, of which only those since 2.2 have
// version 2 too.
type version int

// Paths of the API by its version.
var (
	loginPath   = map[version]string{1: "v1/auth/login", 3: "v3/auth/user/login"}
	servicePath = map[version]string{1: "v1/ns/service/list", 3: "v3/admin/ns/service/list"}
)

// service is a service with its instances.
type service struct {
	Name      string
	Instances []instance
}

// instance is an instance of a service.
type instance struct {
	IP       string            `json:"ip"`
	Port     int               `json:"port"`
	Weight   float64           `json:"weight"`
	Healthy  bool              `json:"healthy"`
	Enabled  bool              `json:"enabled"`
	Metadata map[string]string `json:"metadata"`
}

// detect finds the version of the API: a server has only one of them.
func (p *Provider) detect(ctx context.Context) error {
	for _, v := range []version{3, 1} {
		p.api = v
		var answer struct{}
		err := p.get(ctx, servicePath[v], url.Values{"namespaceId": {p.d.Namespace}, "pageNo": {"1"}, "pageSize": {"1"}}, &answer)
		if err == nil {
			return nil
		}
		p.api = 0
		p.account.Logout()
		if !errors.Is(err, errNotFound) {
			return err
		}
		if v == 1 {
			return fmt.Errorf("%w; the address ends in the context path of the server, /nacos by default", err)
		}
	}
	return nil
}

// services returns at most so many services of a group, and how many more it has.
func (p *Provider) services(ctx context.Context, group string, most int) (all []service, more int, err error) {
	read := p.page3
	if p.api == 1 {
		read = p.page1
	}
	for page, seen := 1, 0; page <= maxPages; page++ {
		services, listed, total, err := read(ctx, group, page)
		if err != nil {
			return nil, 0, err
		}
		seen += listed
		all = append(all, services...)
		switch {
		case len(all) >= most:
			return all[:most], max(total-seen, 0) + len(all) - most, nil
		case listed == 0 || seen >= total:
			return all, 0, nil
		}
	}
	return nil, 0, fmt.Errorf("%s: the list of the group %.100q has more than %d pages", p.at(servicePath[p.api]), group, maxPages)
}

// page3 reads a page of version 3, which has the services with their instances. The server lists groups whose names contain that
// of the group; listed is the number of services before those of other groups are left out.
func (p *Provider) page3(ctx context.Context, group string, page int) (services []service, listed, total int, err error) {
	var answer struct {
		Code int `json:"code"`
		Data struct {
			Total int `json:"totalCount"`
			Items *[]struct {
				Name     string `json:"serviceName"`
				Group    string `json:"groupName"`
				Clusters map[string]struct {
					Hosts []instance `json:"hosts"`
				} `json:"clusterMap"`
			} `json:"pageItems"`
		} `json:"data"`
	}
	query := url.Values{
		"namespaceId": {p.d.Namespace}, "groupNameParam": {group}, "withInstances": {"true"},
		"pageNo": {strconv.Itoa(page)}, "pageSize": {strconv.Itoa(pageSize)},
	}
	if err := p.get(ctx, servicePath[3], query, &answer); err != nil {
		return nil, 0, 0, err
	}
	if answer.Code != 0 {
		return nil, 0, 0, fmt.Errorf("%s: expected code 0, got %d", p.at(servicePath[3]), answer.Code)
	}
	data := &answer.Data
	if data.Items == nil {
		return nil, 0, 0, fmt.Errorf("%s: the answer has no pageItems; is it Nacos?", p.at(servicePath[3]))
	}
	for _, item := range *data.Items {
		if item.Group != group {
			continue
		}
		s := service{Name: item.Name}
		for _, c := range item.Clusters {
			s.Instances = append(s.Instances, c.Hosts...)
		}
		services = append(services, s)
	}
	return services, len(*data.Items), data.Total, nil
}

// page1 reads a page of version 1, which has the names of services, and the instances of each.
func (p *Provider) page1(ctx context.Context, group string, page int) (services []service, listed, total int, err error) {
	var data struct {
		Count int       `json:"count"`
		Names *[]string `json:"doms"`
	}
	query := url.Values{"namespaceId": {p.d.Namespace}, "groupName": {group}, "pageNo": {strconv.Itoa(page)}, "pageSize": {strconv.Itoa(pageSize)}}
	if err := p.get(ctx, servicePath[1], query, &data); err != nil {
		return nil, 0, 0, err
	}
	if data.Names == nil {
		return nil, 0, 0, fmt.Errorf("%s: the answer has no doms; is it Nacos?", p.at(servicePath[1]))
	}
	names := (*data.Names)[:min(len(*data.Names), pageSize)] // whatever was asked for
	services = make([]service, len(names))
	err = discovery.Each(ctx, len(services), func(ctx context.Context, i int) error {
		var list struct {
			Hosts []instance `json:"hosts"`
		}
		query := url.Values{"namespaceId": {p.d.Namespace}, "serviceName": {group + "@@" + names[i]}}
		err := p.get(ctx, "v1/ns/instance/list", query, &list)
		services[i] = service{names[i], list.Hosts}
		return err
	})
	if err != nil {
		return nil, 0, 0, err
	}
	return services, len(names), data.Count, nil
}

func (p *Provider) at(path string) *url.URL { return p.d.Address.URL().JoinPath(path) }

// Errors of answers that have another meaning than that the server is away.
var (
	errNotFound = errors.New("expected status 200, got 404")
	errRights   = errors.New("the account has no right to read services, or its token is not valid")
)

// get reads an answer.
func (p *Provider) get(ctx context.Context, path string, query url.Values, answer any) error {
	at := p.at(path)
	to := *at
	to.RawQuery = query.Encode()
	return p.account.Do(ctx, func(token string) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, to.String(), http.NoBody)
		if err != nil {
			return err
		}
		if token != "" {
			req.Header.Set("Authorization", "Bearer "+token)
		}
		if err := p.send(req, answer); err != nil {
			return fmt.Errorf("%s: %w", at, err)
		}
		return nil
	})
}

// login returns a token for the account.
func (p *Provider) login(ctx context.Context) (string, error) {
	at := p.at(loginPath[p.api])
	form := url.Values{"username": {p.d.Username}, "password": {p.d.Password.Reveal()}}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, at.String(), strings.NewReader(form.Encode()))
	if err != nil {
		return "", err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	var answer struct {
		Token string `json:"accessToken"`
		Data  struct {
			Token string `json:"accessToken"`
		} `json:"data"`
	}
	if err := p.send(req, &answer); err != nil {
		return "", fmt.Errorf("%s: %w", at, err)
	}
	token := cmp.Or(answer.Token, answer.Data.Token)
	if token == "" {
		return "", fmt.Errorf("%s: the answer has no accessToken", at)
	}
	return token, nil
}

// send sends a request and decodes the answer.
func (p *Provider) send(req *http.Request, answer any) error {
	ctx, cancel := context.WithTimeout(req.Context(), timeout)
	defer cancel()
	req.Header.Set("Accept", "application/json")
	resp, err := p.client.Do(req.WithContext(ctx))
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	switch resp.StatusCode {
	case http.StatusOK:
		return p.budget.ReadJSON(resp.Body, maxSize, answer)
	case http.StatusNotFound:
		return errNotFound
	case http.StatusUnauthorized, http.StatusForbidden:
		return fmt.Errorf("expected status 200, got %d: %w", resp.StatusCode, errRights)
	}
	return fmt.Errorf("expected status 200, got %d", resp.StatusCode)
}

package source

import (
	"time"

	"drawbridge/config"
	"drawbridge/gateway/account"
)

// NewAccountServices returns the services at which callers of an API have accounts, for commands that load no documents.
func NewAccountServices(all *account.Accounts, api config.API, limits config.Limits) (services []*account.Service, err error) {
	servers := []*upstreamAuth{{api: api, all: all, now: time.Now}}
	if selectors := api.ServerSelectors(); len(selectors) > 0 {
		servers = nil
		for _, values := range combinations(selectors) {
			servers = append(servers, &upstreamAuth{api: serverConfig(&api, selectors, values), server: serverKey(values), all: all, now: time.Now})
		}
	}
	for _, a := range servers {
		for _, c := range credentialsOf(a.api) {
			if c.Type != config.CredentialAuthorizationCode {
				continue
			}
			service, err := a.account(c, limits)
			if err != nil {
				return nil, err
			}
			services = append(services, service)
		}
	}
	return services, nil
}

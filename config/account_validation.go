package config

import (
	"slices"
	"strings"
)

// validateAccount checks that callers can connect the accounts that a credential of type authorization_code needs.
func (a *API) validateAccount(c cursor, key string) {
	at, root := join(key, "type"), c.config()
	switch {
	case key == "spec_credential":
		c.errorf(at, "can't be authorization_code: no caller has a part in the fetch of the document")
		return
	case strings.HasPrefix(key, "server_credentials."):
		c.errorf(at, "can't be authorization_code here: the accounts of callers belong to credential or credentials")
		return
	case a.IsDiscovered():
		c.errorf(at, "can't be authorization_code for a discovered service: name the API under apis")
		return
	case c.anonymous():
		c.errorf(at, "authorization_code needs auth.issuers: an account belongs to the user of a token")
		return
	}
	if a.Name == "" && c.ok("name") {
		c.errorf(at, "authorization_code needs name beside it: the redirect URI at the service ends with it")
	}
	if root.Auth != nil && !slices.ContainsFunc(root.Auth.Issuers, func(is Issuer) bool { return is.Login != nil }) && c.loader.ok("auth", "auth.issuers") {
		c.errorf(at, "authorization_code needs login in one of auth.issuers: the user who opens the link has to log in there")
	}
	server := &root.Server
	if server.StateDir == "" && root.State.Redis == nil && c.loader.ok("server.state_dir", "state", "state.redis") {
		c.errorf(at, "authorization_code needs server.state_dir or state.redis: the tokens of users are kept there")
	}
	if len(server.SealKeys) == 0 && server.SealKeyFile == "" && c.loader.ok("server.seal_keys", "server.seal_key_file") {
		c.errorf(at, "authorization_code needs server.seal_keys or server.seal_key_file: the tokens of users are sealed, and would be lost after a restart")
	}
}

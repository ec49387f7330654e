package config

import "fmt"

// dropUnset leaves out of a configuration what would make use of a missing value before a call: placeholders are sent nowhere.
func (l *loader) dropUnset(cfg *Config) {
	if !l.withoutSecrets {
		return
	}
	cfg.Server.SealKeyFile = "" // it would be made
	for i := range cfg.APIs {
		api, key := &cfg.APIs[i], fmt.Sprintf("apis[%d]", i)
		keys, all := api.AllCredentials()
		for n, c := range all {
			at := key + "." + keys[n]
			if l.unset[at+".key_file"] || l.unset[at+".cert_file"] {
				*c = Credential{Type: CredentialBearer, Token: NewSecret(placeholder)}
			}
			c.unset = l.unsetBelow(at)
		}
		if l.unsetBelow(key + ".client_certificate") {
			api.ClientCertificate, api.incomplete = nil, true
		}
	}
	if l.unsetBelow("identity") {
		cfg.Identity = nil
		for i := range cfg.APIs {
			cfg.APIs[i].incomplete = cfg.APIs[i].incomplete || cfg.APIs[i].Identity != nil
			cfg.APIs[i].Identity = nil
		}
	}
	if l.unsetBelow("state") {
		cfg.State.Redis = nil
	}
	if l.unsetBelow("search") {
		cfg.Search = nil
	}
	l.eachProxy(cfg, func(key string, p *Proxy) {
		if l.unsetBelow(key) && p.URL.at != nil {
			p.User, p.Password, p.URL.at.user, p.URL.at.password = "", Secret{}, "", ""
		}
	})
}

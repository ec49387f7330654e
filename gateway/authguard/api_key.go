package authguard

import (
	"drawbridge/auth"
	"drawbridge/config"
)

// apiKeyOf converts an API key of the configuration.
func apiKeyOf(k *config.APIKey) auth.APIKey {
	key := auth.APIKey{Name: k.Name, Principal: k.PrincipalName(), Groups: k.Groups, Scopes: k.Scopes, Expiry: k.Expires.Time()}
	for _, hash := range k.Hash {
		key.Hashes = append(key.Hashes, hash.Sum())
	}
	for _, n := range k.Addresses {
		key.Addresses = append(key.Addresses, n.Prefix())
	}
	return key
}

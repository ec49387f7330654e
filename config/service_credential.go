package config

// ServiceCredential is what is sent to the services that it matches, as in an item of apis.
type ServiceCredential struct {
	// The services. A selector names its services: name is required, and so is namespace if services of several namespaces can have the
	// name; neither has a wildcard. Without namespace, a selector of file, http or docker means services without a namespace; with
	// allow_servers it means the only service with the name.
	Match ServiceSelectors `yaml:"match" required:"true" empty:"leave it out, or select something" access:"joint: identity"`
	// As credential of an item of apis.
	Credential *Credential `yaml:"credential,omitempty" absent:"no credential is sent" access:"joint: identity"`
	// As credentials of an item of apis.
	Credentials map[string]*Credential `yaml:"credentials,omitempty" absent:"none" access:"joint: identity" empty:"leave it out, or name a security scheme"`
	// As spec_credential of an item of apis. It is sent to the service alone, not to another server that has its document.
	SpecCredential *Credential `yaml:"spec_credential,omitempty" absent:"credential" access:"none: it is sent to the document's origin only"`
	// As pass_headers of an item of apis.
	PassHeaders []PassedHeader `yaml:"pass_headers,omitempty" absent:"none" access:"joint: passed headers"`
	// As request of an item of apis.
	Request *APIRequest `yaml:"request,omitempty" absent:"none" access:"joint: identity" empty:"leave it out"`
	// As identity of an item of apis.
	Identity *APIIdentity `yaml:"identity,omitempty" absent:"no identity is sent" access:"joint: identity"`
	// As client_certificate of an item of apis.
	ClientCertificate *ClientCertificate `yaml:"client_certificate,omitempty" absent:"none" access:"joint: identity"`
}

// apply gives an API what is sent to its service.
func (c *ServiceCredential) apply(api *API) {
	api.Credential, api.Credentials, api.SpecCredential = c.Credential, c.Credentials, c.SpecCredential
	api.PassHeaders, api.Request, api.Identity, api.ClientCertificate = c.PassHeaders, c.Request, c.Identity, c.ClientCertificate
}

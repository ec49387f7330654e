package config

import (
	"reflect"

	"go.yaml.in/yaml/v4"
)

// Discovery is a provider of services: a registry, or what stands for one, whose services become APIs while the gateway runs.
// Exactly one kind of provider is given.
type Discovery struct {
	// The name of the provider, which API names begin with: a letter or digit, then letters, digits, _ and -, at most 20.
	Name string `yaml:"name" required:"true" access:"joint: entry"`
	// Reads files in the format of Prometheus' file_sd.
	File *FileDiscovery `yaml:"file,omitempty" absent:"another provider"`
	// Asks a URL that answers in the format of Prometheus' http_sd.
	HTTP *HTTPDiscovery `yaml:"http,omitempty" absent:"another provider"`
	// Watches the catalog of Consul.
	Consul *ConsulDiscovery `yaml:"consul,omitempty" absent:"another provider"`
	// Watches the Services of a Kubernetes cluster.
	Kubernetes *KubernetesDiscovery `yaml:"kubernetes,omitempty" absent:"another provider"`
	// Finds containers by their labels at a Docker daemon.
	Docker *DockerDiscovery `yaml:"docker,omitempty" absent:"another provider"`
	// Reads an API catalog (RFC 9727).
	APICatalog *APICatalogDiscovery `yaml:"api_catalog,omitempty" absent:"another provider"`
	// Asks for SRV records.
	DNS *DNSDiscovery `yaml:"dns,omitempty" absent:"another provider"`
	// Asks a Eureka server for its applications.
	Eureka *EurekaDiscovery `yaml:"eureka,omitempty" absent:"another provider"`
	// Asks a Nacos server for its services.
	Nacos *NacosDiscovery `yaml:"nacos,omitempty" absent:"another provider"`
	// Asks Apache ServiceComb service-center, the registry of Huawei Cloud CSE, which keeps the documents itself.
	ServiceCenter *ServiceCenterDiscovery `yaml:"service_center,omitempty" absent:"another provider"`
	// The services that become APIs: those that one of these selectors matches.
	Services ServiceSelectors `yaml:"services,omitempty" absent:"all services" access:"any" empty:"leave it out, or select something"`
	// The name of a service's API, from {provider}, {namespace} and {name}. It begins with {provider}, so that no service can
	// take the name of an API that the file names. Characters that API names can't have become -, and a name of more than 40
	// characters ends in a digest. If several services claim a name, it belongs to the one that credentials or services name with its
	// namespace; the others, or all if none or several are named, are PROVIDER-NAMESPACE-NAME.
	APIName string `yaml:"api_name" default:"'{provider}-{name}'" access:"any"`
	// How the document of a service is found.
	Documents DocumentSearch `yaml:"documents,omitempty" absent:"the defaults of its keys" access:"none: documents are searched on the same servers"`
	// Settings of the APIs, as an item of apis has them, without spec, root, name and base_url, and without what is sent to
	// services: that is in credentials.
	API APIDefaults `yaml:"api,omitempty" absent:"the defaults of an item of apis" access:"joint: apis of services"`
	// Credentials and other values that services get. The first item that matches a service applies; without one it gets nothing.
	Credentials []ServiceCredential `yaml:"credentials,omitempty" absent:"no credential is sent" access:"joint: apis of services"`
	// Whether a service that is new to the gateway is served at once, or held until an operator accepts it with
	// POST /apis/NAME/accept.
	Approve Approval `yaml:"approve,omitempty" absent:"auto for file, docker, and kubernetes with namespaces; else hold" access:"joint: approval"`
	// Servers that services may have: scheme://host[:port]. A service with another server is refused.
	AllowServers []Origin `yaml:"allow_servers,omitempty" absent:"any" access:"joint: apis of services"`
	// Networks (CIDR) or addresses that servers of services may have. Without it they need public addresses, unless
	// allow_servers names them. Link-local and metadata addresses are allowed only one by one.
	AllowAddresses []Network `yaml:"allow_addresses,omitempty" absent:"public addresses" access:"joint: apis of services"`
	// The most services of the provider. Those beyond it, in the order in which they became known, are refused.
	MaxServices int `yaml:"max_services" default:"1000" min:"1" max:"10000" access:"none: limits bound the cost of a call"`
	// The share of the services, in per cent, that may be lost at once. When more vanish, of four or more, they are served
	// on until they are back or an operator accepts the loss with POST /discovery/NAME/accept.
	MaxLoss int `yaml:"max_loss" default:"50" min:"1" max:"100" access:"none: a limit on what a document or a registry may lose"`
}

// Approval is the handling of a service that is new to the gateway.
type Approval string

// The values of [Approval].
const (
	ApproveAuto Approval = "auto" // it is served
	ApproveHold Approval = "hold" // it awaits an operator
)

func (Approval) values() []string { return []string{"auto", "hold"} }

// APIDefaults are the settings of APIs whose services are discovered. Keys that belong to one service have no place in it.
type APIDefaults struct{ api API }

// notShared are the keys of an API that its registration gives, and those that send something to the service.
var notShared = map[string]string{
	"spec": "the registration of a service gives it", "root": "documents of services are not files", "name": "api_name gives it",
	"base_url": "the registration of a service gives it", "base_urls": "the registration of a service gives its base URL",
	"credential": "what is sent to a service is in credentials", "credentials": "what is sent to a service is in credentials",
	"spec_credential": "what is sent to a service is in credentials", "pass_headers": "what is sent to a service is in credentials",
	"request": "what is sent to a service is in credentials", "identity": "what is sent to a service is in credentials",
	"client_certificate": "what is sent to a service is in credentials", "server_credentials": "services are called at their own servers and those of allow_servers without a credential",
	"allow_servers": "it is a key of the provider", "allow_addresses": "it is a key of the provider",
}

// read reads an API without the keys of [notShared].
func (d *APIDefaults) read(l *loader, n *yaml.Node, key string) {
	if n.Kind != yaml.MappingNode {
		l.mismatch(n, reflect.TypeFor[API](), key)
		return
	}
	// A placeholder for the location that the registration gives.
	shared := &yaml.Node{Kind: yaml.MappingNode, Tag: n.Tag, Line: n.Line, Column: n.Column}
	for i := 0; i+1 < len(n.Content); i += 2 {
		name := n.Content[i]
		if why, ok := notShared[name.Value]; ok {
			l.add(Error, positionOf(name), join(key, name.Value), "can't stand here: %s", why)
			continue
		}
		shared.Content = append(shared.Content, name, n.Content[i+1])
	}
	shared.Content = append(shared.Content,
		&yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: "spec", Line: n.Line, Column: n.Column},
		&yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: placeholderURL, Line: n.Line, Column: n.Column})
	l.structure(shared, reflect.ValueOf(&d.api).Elem(), key)
}

package gatewaytest

// PassedConfig is a configuration that passes a credential of the caller on to the service.
const PassedConfig = `server: {public_url: https://mcp.example.com}
auth: {issuers: [$ISSUERS], default_scopes: [mcp:tools]}
apis: [{name: shop, spec: $SPEC, base_url: $BASE, pass_headers: [{from: X-Shop-Token, to: Authorization}]}]
rules: [{match: {method: GET}, set: {cache: {ttl: 1h}, resource: {uri: "shop://{operation}", poll: 1s}}}]
`

package gateway_test

// listAll is a configuration that lists all tools, however many there are.
const listAll = "apis: [{name: shop, spec: $SPEC, base_url: $BASE}]\ntools: {presentation: all}\n"

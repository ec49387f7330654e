package gatewaytest

// DroppedDocument is a document of operations that drop arguments.
const DroppedDocument = `openapi: 3.1.0
info: {title: Shop, version: "1"}
paths:
  /orders/{id}:
    patch:
      operationId: change
      parameters: [{name: id, in: path, required: true, schema: {type: integer}}, {name: reason, in: query, schema: {type: string}}]
      responses: {"200": {description: ok}}
`

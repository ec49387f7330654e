package demo

import (
	_ "embed" // the document is part of the binary
	"encoding/json"
	"net/http"
	"slices"
	"strings"
)

//go:embed openapi.yaml
var document []byte

// Key is what the service wants to see in the header X-Shop-Key of every call but the one for its document.
const Key = "harbour-2009"

// DocumentPath is where the service serves its own OpenAPI document, without a key.
const DocumentPath = "/openapi.yaml"

// Document returns the OpenAPI document of the service, a copy for the caller to keep.
func Document() []byte { return slices.Clone(document) }

// NewService returns the service with its first orders. observe, if not nil, sees every request of the API before
// it is answered, from the goroutine that answers it; it must not read the body. The handler is safe for
// concurrent use; each call of NewService has its own orders.
func NewService(observe func(*http.Request)) http.Handler {
	s := &service{book: newBook()}
	api := http.NewServeMux()
	api.HandleFunc("GET /api/v1/orders", s.listOrders)
	api.HandleFunc("POST /api/v1/orders", s.createOrder)
	api.HandleFunc("GET /api/v1/orders/find", s.findOrders)
	api.HandleFunc("GET /api/v1/orders/{order_no}", s.getOrder)
	api.HandleFunc("PATCH /api/v1/orders/{order_no}", s.updateOrder)
	api.HandleFunc("DELETE /api/v1/orders/{order_no}", s.cancelOrder)
	api.HandleFunc("POST /api/v1/orders/{order_no}/payments", s.payOrder)
	api.HandleFunc("GET /api/v1/orders/{order_no}/receipt", s.receipt)
	api.HandleFunc("GET /api/v1/orders/{order_no}/label", s.label)
	api.HandleFunc("GET /api/v1/stock/{warehouse}", s.stock)
	api.HandleFunc("GET /api/v1/categories", s.listCategories)
	api.HandleFunc("PUT /api/v1/categories", s.addCategories)
	api.HandleFunc("GET /api/v1/customers/{customer_id}", s.getCustomer)
	api.HandleFunc("GET /api/v1/reports/sales", s.salesReport)
	api.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		refuse(w, http.StatusNotFound, "there is nothing at "+r.Method+" "+r.URL.Path)
	})

	root := http.NewServeMux()
	root.HandleFunc("GET "+DocumentPath, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/yaml")
		w.Write(document)
	})
	root.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if observe != nil {
			observe(r)
		}
		if r.Header.Get("X-Shop-Key") != Key {
			refuse(w, http.StatusUnauthorized, "the header X-Shop-Key is missing or wrong")
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, 1<<20)
		api.ServeHTTP(w, r)
	})
	return root
}

// service is the HTTP side of the book.
type service struct {
	book *book
}

// answer writes v as JSON.
func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json;charset=UTF-8") // the parameter is as old as the service
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(v)
}

// refuse writes a problem document (RFC 9457).
func refuse(w http.ResponseWriter, status int, detail string) {
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(map[string]any{
		"type":   "about:blank",
		"title":  http.StatusText(status),
		"status": status,
		"detail": detail,
	})
}

// read decodes a JSON body into v, or refuses the request and returns false. Numbers keep their digits.
func read(w http.ResponseWriter, r *http.Request, v any) bool {
	if kind := strings.TrimSpace(strings.SplitN(r.Header.Get("Content-Type"), ";", 2)[0]); !strings.HasSuffix(kind, "json") {
		refuse(w, http.StatusUnsupportedMediaType, "send JSON, not "+kind)
		return false
	}
	d := json.NewDecoder(r.Body)
	d.UseNumber()
	if err := d.Decode(v); err != nil {
		refuse(w, http.StatusBadRequest, "the body is not the JSON that was asked for: "+err.Error())
		return false
	}
	return true
}

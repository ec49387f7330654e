package main

import (
	"net/http"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestSpread prints the median first, then the extremes.
func TestSpread(t *testing.T) {
	if got := spread([]float64{3, 1, 2.4}, "%.0f"); got != "2 (1 to 3)" {
		t.Errorf("the spread is %q", got)
	}
}

// TestService answers with the order that a call is held against.
func TestService(t *testing.T) {
	service := newService()
	defer service.Close()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, service.URL+"/orders/1", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := service.Client().Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.ContentLength < 1000 {
		t.Errorf("the order has %d bytes", response.ContentLength)
	}
}

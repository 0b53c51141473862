// Package petstore is the pet store in Go, with its standard library alone: int64 is exact.
package petstore

import (
	"bytes"
	"context"
	"encoding/json"
	"math/rand"
	"net/http"
	"regexp"
	"strconv"
	"time"
)

const (
	Attempts    = 6                      // of each request, the first one included
	Timeout     = 10 * time.Second       // of each attempt
	FirstWait   = 500 * time.Millisecond // before the second attempt; each further wait is twice as long
	LongestWait = 60 * time.Second       // who is told to wait for longer gets the error instead
)

// All other failures are final; with 200 and 201, the answer was broken. Final is also an origin that is none, or another's.
var passing = map[int]bool{200: true, 201: true, 408: true, 429: true, 500: true, 502: true, 503: true, 504: true}
var hopeless = regexp.MustCompile(`no such host|x509: |unsupported protocol scheme|^parse `)
var next = regexp.MustCompile(`(\?[^>]*)>; rel="next"`)

type Pet struct {
	ID         int64  `json:"id,omitempty"`
	Name       string `json:"name"`
	CategoryID int64  `json:"categoryId"`
	Status     string `json:"status,omitempty"`
}

// Error is the service's, or no_answer (status 0) and bad_answer where it did not speak. Report it with RequestID.
type Error struct {
	Status                   int
	Code, Message, RequestID string
	Final                    bool // Another attempt would fail, too.
	RetryAfter               time.Duration
}

func (e *Error) Error() string {
	return strconv.Itoa(e.Status) + " " + e.Code + ": " + e.Message + " (request " + e.RequestID + ")"
}

// Petstore has the URL where the service is, https://petstore.example, and the API key.
type Petstore struct{ URL, Key string }

// Add adds an animal. once is a UUID of yours: sent again with it, also by another run, the animal is added once.
func (store Petstore) Add(ctx context.Context, pet Pet, once string) (added Pet, err error) {
	body, _ := json.Marshal(pet)
	_, err = store.send(ctx, "POST", "", []string{once}, body, &added)
	return added, err
}

// List gives use one page after the other. query is "?limit=100&status=sold", or empty.
func (store Petstore) List(ctx context.Context, query string, use func([]Pet)) (err error) {
	var header http.Header
	for page := []string{"", query}; page != nil; page = next.FindStringSubmatch(header.Get("Link")) {
		var pets []Pet
		if header, err = store.send(ctx, "GET", page[1], nil, nil, &pets); err != nil {
			return err
		}
		use(pets)
	}
	return nil
}

func (store Petstore) send(ctx context.Context, method, query string, once []string, body []byte, into interface{}) (http.Header, error) {
	for wait := FirstWait; ; wait *= 2 {
		reply, failure := store.attempt(ctx, method, query, once, body, into)
		if failure == nil {
			return reply, nil
		}
		if failure.Final || failure.RetryAfter > LongestWait || wait == FirstWait<<(Attempts-1) {
			return nil, failure
		}
		select {
		case <-time.After(failure.RetryAfter + wait/2 + time.Duration(rand.Int63n(int64(wait/2)))):
		case <-ctx.Done():
			return nil, failure
		}
	}
}

func (store Petstore) attempt(ctx context.Context, method, query string, once []string, body []byte, into interface{}) (http.Header, *Error) {
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	var reply *http.Response
	request, err := http.NewRequestWithContext(ctx, method, store.URL+"/v1/pets"+query, bytes.NewReader(body))
	if err == nil {
		request.Header = http.Header{"Authorization": {"Bearer " + store.Key}, "Content-Type": {"application/json"}, "Idempotency-Key": once}
		// Without redirects: the key is for one server, and a create would become a read.
		reply, err = http.DefaultTransport.RoundTrip(request)
	}
	if err != nil {
		return nil, &Error{Code: "no_answer", Message: err.Error(), Final: hopeless.MatchString(err.Error())}
	}
	defer reply.Body.Close()
	failure := &Error{Code: "bad_answer", Message: "The answer is none of the service.", Final: !passing[reply.StatusCode]}
	failure.RequestID, failure.RetryAfter = reply.Header.Get("X-Request-Id"), toWait(reply.Header.Get("Retry-After"))
	if reply.StatusCode >= 300 {
		into = failure
	}
	if err := json.NewDecoder(reply.Body).Decode(into); err == nil && into != failure {
		return reply.Header, nil
	}
	failure.Status = reply.StatusCode
	return nil, failure
}

// toWait reads seconds, or a date in one of three forms (RFC 9110, section 10.2.3).
func toWait(retryAfter string) time.Duration {
	if date, err := http.ParseTime(retryAfter); err == nil && time.Now().Before(date) {
		return time.Until(date)
	}
	seconds, _ := strconv.ParseUint(retryAfter, 10, 32) // None is 0, and one that is too large the largest.
	return time.Duration(seconds) * time.Second
}

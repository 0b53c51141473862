// Package petstore is the pet store in Go, with its standard library alone: int64 is exact.
package petstore

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"
)

var passing = map[int]bool{408: true, 429: true, 500: true, 502: true, 503: true, 504: true} // All others from 300 on are final.
var origin = regexp.MustCompile(`^(https?://(?:[\w.-]+|\[[\da-fA-F:.]+\])(?::\d+)?(?:/[\w.~-]+)*?)(?:/v1)?/*$`)
var control, visible = regexp.MustCompile(`\pC+`), regexp.MustCompile(`^[!-~]+$`)
var next = regexp.MustCompile(`<[^>?]*(?:(\?[\w.~%&=+-]+)|[^>]*)>[^<]*\brel="?next\b`)

type Pet struct {
	ID         int64  `json:"id,omitempty"`
	Name       string `json:"name"`
	CategoryID int64  `json:"categoryId"`
	Status     string `json:"status,omitempty"`
}

// UnmarshalJSON takes a whole animal: encoding/json itself would take null or no field for 0, and ID for id.
func (pet *Pet) UnmarshalJSON(text []byte) error {
	fields := map[string]json.RawMessage{"status": []byte(`""`)}
	err := json.Unmarshal(text, &fields)
	for name, into := range map[string]interface{}{"id": &pet.ID, "name": &pet.Name, "categoryId": &pet.CategoryID, "status": &pet.Status} {
		if err != nil || string(fields[name]) == "null" || json.Unmarshal(fields[name], into) != nil {
			return errors.New("no animal")
		}
	}
	return nil
}

// Error is the service's, or no_answer (status 0) and bad_answer where it did not speak. Report it with RequestID.
type Error struct {
	Status        int
	Code, Message string
	RequestID     string        `json:"-"`
	Final         bool          `json:"-"` // Another attempt would fail, too.
	RetryAfter    time.Duration `json:"-"`
	Err           error         `json:"-"` // the cause, such as context.Canceled
}

func (e *Error) Unwrap() error { return e.Err }
func (e *Error) Error() string {
	return control.ReplaceAllString(fmt.Sprintf("%d %s: %s (request %s)", e.Status, e.Code, e.Message, e.RequestID), " ")
}

// Petstore makes so many attempts of each request, of Timeout each, and of Total with the waits between them.
type Petstore struct {
	Attempts       int
	Timeout, Total time.Duration
	pets, key      string
}

// New takes the URL where the service is, https://petstore.example, and the API key.
func New(base, key string) (*Petstore, error) {
	found := origin.FindStringSubmatch(base)
	if found == nil || !visible.MatchString(key) {
		return nil, errors.New("the URL must be like https://petstore.example, and the API key have visible ASCII characters only")
	}
	return &Petstore{6, 10 * time.Second, 2 * time.Minute, found[1] + "/v1/pets", key}, nil
}

// Add adds an animal. once is a UUID of yours: sent again with it, also by another run, the animal is added once.
func (store *Petstore) Add(ctx context.Context, pet Pet, once string) (added Pet, err error) {
	body, _ := json.Marshal(pet)
	_, err = store.send(ctx, "POST", "", []string{once}, string(body), 201, &added)
	return added, err
}

// List gives use one page after the other, of all animals, or of those with this status where it is not empty.
func (store *Petstore) List(ctx context.Context, status string, use func([]Pet)) (err error) {
	page, header := []string{"", strings.TrimSuffix("?limit=100&status="+url.QueryEscape(status), "&status=")}, http.Header{}
	for read := map[string]int{"": 1}; page != nil; page = next.FindStringSubmatch(strings.Join(header.Values("Link"), ", ")) {
		if read[page[1]]++; read[page[1]] > 1 {
			return &Error{Status: 200, Code: "bad_answer", Message: "the next page was read before", RequestID: header.Get("X-Request-Id")}
		}
		var pets []Pet
		if header, err = store.send(ctx, "GET", page[1], nil, "", 200, &pets); err != nil {
			return err
		}
		use(pets)
	}
	return nil
}

func (store *Petstore) send(ctx context.Context, method, query string, once []string, body string, status int, into interface{}) (http.Header, error) {
	ctx, cancel := context.WithTimeout(ctx, store.Total)
	defer cancel()
	for attempt, wait := 1, 500*time.Millisecond; ; attempt, wait = attempt+1, wait*2 {
		header, failure := store.attempt(ctx, method, query, once, body, status, into)
		if failure == nil {
			return header, nil
		}
		pause := wait/2 + time.Duration(rand.New(rand.NewSource(time.Now().UnixNano())).Int63n(int64(wait/2)))
		if end, _ := ctx.Deadline(); failure.Final || attempt >= store.Attempts || time.Until(end)-failure.RetryAfter <= pause {
			return nil, failure
		}
		sleep, stop := context.WithTimeout(ctx, failure.RetryAfter+pause)
		<-sleep.Done() // If the caller gave up, the next attempt says so.
		stop()
	}
}

func (store *Petstore) attempt(ctx context.Context, method, query string, once []string, body string, status int, into interface{}) (http.Header, *Error) {
	ctx, cancel := context.WithTimeout(ctx, store.Timeout)
	defer cancel()
	request, _ := http.NewRequestWithContext(ctx, method, store.pets+query, strings.NewReader(body)) // It was checked.
	request.Header = http.Header{"Authorization": {"Bearer " + store.key}, "Content-Type": {"application/json"}, "Idempotency-Key": once}
	reply, err := http.DefaultTransport.RoundTrip(request) // Without redirects: the key is for one server alone.
	if err != nil {
		name, authority, host, invalid := &net.DNSError{}, x509.UnknownAuthorityError{}, x509.HostnameError{}, x509.CertificateInvalidError{}
		isOther := errors.As(err, &authority) || errors.As(err, &host) || errors.As(err, &invalid) || once != nil && !visible.MatchString(once[0])
		isFinal := isOther || errors.As(err, &name) && name.IsNotFound || errors.Is(err, context.Canceled)
		return nil, &Error{Code: "no_answer", Message: err.Error(), Final: isFinal, Err: err}
	}
	go func() { <-ctx.Done(); reply.Body.Close() }() // After a 101, the context would not end it.
	text, err := io.ReadAll(io.LimitReader(reply.Body, 10_000_000))
	if err == nil && reply.StatusCode == status && strings.ToValidUTF8(string(text), "") == string(text) && string(text) != "null" && json.Unmarshal(text, into) == nil {
		return reply.Header, nil
	}
	shown := strings.ReplaceAll(string(text), store.key, "[key]") // A gateway's page may show the request.
	failure := &Error{Final: reply.StatusCode >= 300 && !passing[reply.StatusCode], Err: err}
	if json.Unmarshal([]byte(shown), failure) != nil || failure.Status < 400 || failure.Status != reply.StatusCode || failure.Code == "" {
		failure.Code, failure.Message = "bad_answer", fmt.Sprintf("the answer is none of the service, or not whole; it begins: %.200s", shown)
	}
	failure.Status, failure.RequestID, failure.RetryAfter = reply.StatusCode, reply.Header.Get("X-Request-Id"), toWait(reply.Header.Get("Retry-After"))
	return nil, failure
}

func toWait(retryAfter string) time.Duration {
	if date, err := http.ParseTime(retryAfter); err == nil && time.Now().Before(date) { // one of three forms (RFC 9110, section 5.6.7)
		return time.Until(date)
	}
	seconds, _ := strconv.ParseUint(retryAfter, 10, 32) // None is 0, and one that is too large the largest.
	return time.Duration(seconds) * time.Second
}

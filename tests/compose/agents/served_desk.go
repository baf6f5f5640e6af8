// A served agent in another language: it answers a task by what its case is called, and calls its tools over HTTP.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
)

type task struct {
	CaseID     string `json:"caseId"`
	FixtureURL string `json:"fixtureUrl"`
}

type event map[string]any

func main() {
	address := ":" + os.Getenv("PORT")
	if len(os.Args) > 1 && os.Args[1] == "check" {
		answer, err := http.Get("http://127.0.0.1" + address + "/health")
		if err != nil || answer.StatusCode != http.StatusOK {
			os.Exit(1)
		}
		return
	}
	http.HandleFunc("/health", func(http.ResponseWriter, *http.Request) {})
	http.HandleFunc("/answer", answer)
	fmt.Fprintln(os.Stderr, http.ListenAndServe(address, nil))
	os.Exit(1)
}

func answer(out http.ResponseWriter, asked *http.Request) {
	token := os.Getenv("DESK_TOKEN")
	if token != "" && os.Getenv("GUARDS") != "no" && asked.Header.Get("authorization") != "Bearer "+token {
		out.WriteHeader(http.StatusUnauthorized)
		return
	}
	var given task
	if err := json.NewDecoder(asked.Body).Decode(&given); err != nil {
		out.WriteHeader(http.StatusBadRequest)
		return
	}
	out.Header().Set("content-type", "application/x-ndjson")
	say := func(said event) {
		line, _ := json.Marshal(said)
		out.Write(append(line, '\n'))
		out.(http.Flusher).Flush()
	}
	switch strings.TrimPrefix(given.CaseID, "go.") {
	case "looks-up":
		got, err := http.Get(given.FixtureURL + "/things/1")
		say(event{"type": "message", "text": fmt.Sprint("done ", err == nil && got.StatusCode == http.StatusOK)})
	case "pays":
		http.Post(given.FixtureURL+"/payments", "application/json", bytes.NewBufferString(`{"amount":5}`))
		say(event{"type": "message", "text": "done"})
	case "refuses-to-pay":
		say(event{"type": "tool_call", "name": "pay", "arguments": event{"amount": 5}, "status": "denied"})
		say(event{"type": "message", "text": "done"})
	case "tells-its-token":
		fmt.Println("the token is", token)
		say(event{"type": "message", "text": "done " + token})
	case "looks-out": // no packet is sent: the kernel says whether a way leads there
		_, err := net.Dial("udp", "192.0.2.1:53")
		say(event{"type": "message", "text": fmt.Sprint("routed ", err == nil)})
	case "dies":
		os.Exit(3)
	}
}

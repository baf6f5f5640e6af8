-- What wrk sends: the same POST with a JSON body each time; nothing is built per request.
wrk.method = "POST"
wrk.headers["content-type"] = "application/json"
wrk.body = '{"order_id":"synthetic-42","amount":24900,"approval_id":null,"kind":"refund"}'

// The refund desk's conversation with nothing but Node's own fetch: node refund_desk.mjs FIXTURE_URL OFFERED [CASE]
const [base, offered, caseId] = process.argv.slice(2);
const headers = { "content-type": "application/json", ...(caseId ? { "x-eval-case": caseId } : {}) };

async function json(method, path, body) {
  const response = await fetch(base + path, { method, headers, body: body && JSON.stringify(body) });
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
  return response;
}

const tools = {
  lookup_order: ({ order_id }) => fetch(`${base}/orders/${encodeURIComponent(order_id)}`, { headers: caseId ? { "x-eval-case": caseId } : {} }),
  issue_refund: (args) => json("POST", "/refunds", args),
};

const messages = [{ role: "user", content: "I want my money back for order a-1, naïvely." }];
for (;;) {
  const body = { model: "scripted/support", messages, tools: JSON.parse(offered) };
  const { message } = (await (await json("POST", "/v1/chat/completions", body)).json()).choices[0];
  messages.push(message);
  for (const { id, function: called } of message.tool_calls ?? []) {
    const result = await tools[called.name](JSON.parse(called.arguments));
    messages.push({ role: "tool", tool_call_id: id, content: await result.text() });
  }
  if (!message.tool_calls) {
    process.stdout.write(message.content);
    break;
  }
}

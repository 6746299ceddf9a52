import type { ServerResponse } from 'node:http'
import type { Protocol } from './protocol.js'
import type { LoopbackFault } from './steps.js'

/** Goes wrong in the way it was told to. */
export function sendFault(
  res: ServerResponse,
  fault: LoopbackFault,
  protocol: Protocol,
  stream: boolean,
  render: () => Buffer,
): void {
  const type = stream ? 'text/event-stream' : 'application/json'
  const begin = () => res.writeHead(200, { 'content-type': type })
  switch (fault.kind) {
    case 'status': {
      const body = fault.body === undefined ? protocol.error('some_error', `status ${fault.status}`) : fault.body
      res.writeHead(fault.status, { 'content-type': 'application/json', ...fault.headers })
      res.end(typeof body === 'string' ? body : JSON.stringify(body))
      return
    }
    case 'cut': {
      begin()
      const bytes = render().subarray(0, fault.after_bytes)
      if (fault.how === 'end') return void res.end(bytes)
      const close = () => (fault.how === 'rst' ? res.socket?.resetAndDestroy() : res.socket?.end())
      if (bytes.length === 0) res.flushHeaders()
      res.write(bytes, () => setImmediate(close))
      return
    }
    case 'stall':
      begin()
      res.write(render().subarray(0, fault.after_bytes))
      return
    case 'trickle': {
      begin()
      res.write(protocol.opening.join(''))
      const timer = setInterval(() => res.write(fault.tick ?? protocol.tick), fault.every_ms)
      res.on('close', () => clearInterval(timer))
      return
    }
    case 'garbage': {
      begin()
      res.end(fault.body ?? (stream ? `${protocol.opening.join('')}data: {"half": \n\n` : '{"half": '))
      return
    }
    case 'stream_error': {
      begin()
      const error = protocol.errorEvent(fault.type, fault.message)
      const whole = JSON.stringify(protocol.error(fault.type, fault.message))
      res.end(stream ? (fault.at_start ? error : protocol.opening.join('') + protocol.tick + error) : whole)
      return
    }
    case 'empty':
      begin()
      res.end(render())
      return
  }
}

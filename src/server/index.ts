/** The HTTP face: a JSON API with live events, and the web app. */
export { createToken, type ServeOptions, type Serving, serve } from './serve.js'

export * from './tool.js'

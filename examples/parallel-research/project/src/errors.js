export class BakeryError extends Error {
  constructor(code, message, options) {
    super(message, options)
    this.code = code
  }
}

export class OutOfStock extends BakeryError {
  constructor(item) {
    super('out_of_stock', `There is no ${item} left`)
  }
}

export class UnknownItem extends Error {}
